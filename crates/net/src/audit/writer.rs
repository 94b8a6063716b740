//! An audit log whose disk nobody waits for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::chain::AuditEvent;
use super::log::AuditLog;
use crate::state::DiskQueue;

/// Collects events and has them written by the queue of a disk, at most one write at a time.
pub(crate) struct AuditWriter {
    waiting: Vec<(Duration, AuditEvent)>,
    log: Arc<Mutex<AuditLog>>,
    is_writing: Arc<AtomicBool>,
    queue: Arc<DiskQueue>,
}

impl AuditWriter {
    pub(crate) fn new(log: AuditLog, queue: Arc<DiskQueue>) -> Self {
        Self { waiting: Vec::new(), log: Arc::new(Mutex::new(log)), is_writing: Arc::default(), queue }
    }

    /// Adds an event that happens at this time since 1970.
    pub(crate) fn add(&mut self, unix_time: Duration, event: AuditEvent) {
        // One more than the log has room for, so that it notes a loss.
        if self.waiting.len() <= AuditLog::ROOM {
            self.waiting.push((unix_time, event));
        }
    }

    /// Has everything written that waits; `now` is the time of a clock that never goes back.
    pub(crate) fn write(&mut self, now: Duration) {
        if self.is_writing.swap(true, Ordering::AcqRel) {
            return;
        }
        hand_over(&mut self.waiting, &self.log);
        let (log, is_writing) = (self.log.clone(), self.is_writing.clone());
        self.queue.add(move || {
            lock(&log).write(now);
            is_writing.store(false, Ordering::Release);
        });
    }

    /// Writes and syncs everything at the end of a run.
    pub(crate) fn finish(&mut self, now: Duration) {
        self.queue.finish();
        hand_over(&mut self.waiting, &self.log);
        lock(&self.log).finish(now);
    }
}

fn hand_over(waiting: &mut Vec<(Duration, AuditEvent)>, log: &Mutex<AuditLog>) {
    let mut log = lock(log);
    waiting.drain(..).for_each(|(time, event)| log.add(time, event));
}

fn lock(log: &Mutex<AuditLog>) -> MutexGuard<'_, AuditLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
