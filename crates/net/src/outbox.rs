//! What waits to leave towards one neighbour, and the thread that sends it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A queue with a thread of its own, so that a neighbour that takes nothing holds nobody else up.
pub(crate) struct Outbox {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Vec<u8>>,
    sending: bool,
    closed: bool,
}

impl Outbox {
    /// More would be older than what the receiver can still use.
    const DEPTH: usize = 16;

    /// Sends by this function, which may wait.
    pub(crate) fn new(name: String, mut send: impl FnMut(Vec<u8>) + Send + 'static) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let sender = queue.clone();
        let thread = std::thread::Builder::new().name(name).stack_size(512 << 10).spawn(move || {
            while let Some(bytes) = sender.next() {
                send(bytes);
            }
        })?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Puts a message at the end; the oldest makes room.
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        let mut state = self.queue.lock();
        if state.messages.len() == Self::DEPTH {
            state.messages.pop_front();
        }
        state.messages.push_back(bytes);
        self.queue.changed.notify_all();
    }

    /// Waits until everything has left, until this moment at most.
    pub(crate) fn drain(&self, until: Instant) {
        let mut state = self.queue.lock();
        while !state.messages.is_empty() || state.sending {
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return;
            }
            state = self.queue.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
        // It may be waiting for its neighbour: it ends by itself.
        drop(self.thread.take());
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next message, once there is one; none at the end.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        state.sending = false;
        self.changed.notify_all();
        loop {
            if state.closed {
                return None;
            }
            if let Some(bytes) = state.messages.pop_front() {
                state.sending = true;
                return Some(bytes);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
