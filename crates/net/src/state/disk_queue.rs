//! Work on a disk that nobody waits for.

use std::fmt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Who waits for a disk while it writes what no message depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskMode {
    /// The node: what happens in which order is the same whenever it is run.
    InLoop,
    /// A thread of its own: a disk that stands still holds up neither rounds nor answers.
    OnThread,
}

/// Carries out work on a disk, in the order in which it was added. It has no bound of its own:
/// whoever adds work waits until it is done before adding more of the same kind.
pub struct DiskQueue {
    worker: Mutex<Option<Worker>>,
}

type DiskWork = Box<dyn FnOnce() + Send>;

struct Worker {
    jobs: Sender<DiskWork>,
    thread: JoinHandle<()>,
}

impl DiskQueue {
    /// A queue without work.
    pub fn new(mode: DiskMode) -> Self {
        let worker = match mode {
            DiskMode::InLoop => None,
            DiskMode::OnThread => Worker::begin(),
        };
        Self { worker: Mutex::new(worker) }
    }

    /// Adds work; without a thread it is done when this returns.
    pub fn add(&self, job: impl FnOnce() + Send + 'static) {
        let refused = match &*self.worker() {
            Some(worker) => worker.jobs.send(Box::new(job)).err().map(|refused| refused.0),
            None => Some(Box::new(job) as DiskWork),
        };
        if let Some(job) = refused {
            job();
        }
    }

    /// Returns when all work is done. Work that is added later is done at once.
    pub fn finish(&self) {
        let worker = self.worker().take();
        if let Some(Worker { jobs, thread }) = worker {
            drop(jobs);
            if thread.join().is_err() {
                tracing::error!("something that was to be written to disk was not");
            }
        }
    }

    fn worker(&self) -> MutexGuard<'_, Option<Worker>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    fn begin() -> Option<Self> {
        let (jobs, waiting) = channel::<DiskWork>();
        let work = move || waiting.into_iter().for_each(|job| job());
        match Builder::new().name("disk".into()).spawn(work) {
            Ok(thread) => Some(Self { jobs, thread }),
            Err(error) => {
                tracing::warn!(%error, "there is no thread for the disk: rounds wait for it");
                None
            }
        }
    }
}

impl fmt::Debug for DiskQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskQueue").field("has_thread", &self.worker().is_some()).finish()
    }
}

impl Drop for DiskQueue {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_is_done_in_order_and_all_of_it_before_the_end() {
        for mode in [DiskMode::InLoop, DiskMode::OnThread] {
            let (queue, done) = (DiskQueue::new(mode), Arc::new(Mutex::new(Vec::new())));
            for number in 0..100 {
                let done = done.clone();
                queue.add(move || done.lock().unwrap().push(number));
            }
            queue.finish();
            assert_eq!(*done.lock().unwrap(), (0..100).collect::<Vec<_>>(), "{mode:?}");
            let late = done.clone();
            queue.add(move || late.lock().unwrap().clear());
            assert!(done.lock().unwrap().is_empty(), "what comes after the end is done at once");
        }
    }

    #[test]
    fn nobody_waits_for_a_disk_that_stands_still() {
        let (queue, (go_on, still)) = (DiskQueue::new(DiskMode::OnThread), channel::<()>());
        queue.add(move || still.recv().unwrap());
        let (wrote, written) = channel();
        queue.add(move || wrote.send(()).unwrap());
        assert!(written.try_recv().is_err());
        go_on.send(()).unwrap();
        drop(queue);
        assert_eq!(written.try_recv(), Ok(()), "dropped only when everything is done");
    }

    #[test]
    fn without_a_thread_work_is_done_at_once() {
        let (queue, (wrote, written)) = (DiskQueue::new(DiskMode::InLoop), channel());
        queue.add(move || wrote.send(7).unwrap());
        assert_eq!(written.try_recv(), Ok(7));
    }
}
