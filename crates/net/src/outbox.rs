//! What waits to leave towards one neighbour, and the thread that sends it.
#![allow(clippy::disallowed_methods, reason = "a thread that may be held up is waited for in real time")]

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A bounded queue with a thread of its own, so that a neighbour that takes nothing holds up nobody
/// else.
pub(crate) struct Outbox {
    queue: Arc<SendQueue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SendQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    messages: VecDeque<Vec<u8>>,
    sending: bool,
    closed: bool,
}

impl Outbox {
    /// The messages that wait at most: older ones would be of no more use to the receiver.
    pub(crate) const DEPTH: usize = 16;
    /// The bytes that wait at most, unless a single message has more.
    const BYTES: usize = 64 << 20;

    /// Starts a thread that sends by this function, which may block.
    pub(crate) fn new(name: String, mut send: impl FnMut(Vec<u8>) + Send + 'static) -> std::io::Result<Self> {
        let queue = Arc::new(SendQueue::default());
        let sender = queue.clone();
        // There is one thread for each pair of agents: a small stack lets a node have thousands.
        let thread = std::thread::Builder::new().name(name).stack_size(512 << 10).spawn(move || {
            while let Some(bytes) = sender.next() {
                send(bytes);
            }
        })?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Puts a message at the end of the queue; if that is too long, the oldest ones are dropped.
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        let messages = &mut self.queue.lock().messages;
        messages.push_back(bytes);
        let waiting = |messages: &VecDeque<Vec<u8>>| messages.iter().map(Vec::len).sum::<usize>();
        while messages.len() > Self::DEPTH || (messages.len() > 1 && waiting(messages) > Self::BYTES) {
            messages.pop_front();
        }
        self.queue.changed.notify_all();
    }

    /// Waits until everything has left, but not beyond this moment.
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
        // It may be waiting for its neighbour, so it is not joined: it ends by itself.
        drop(self.thread.take());
    }
}

impl SendQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next message; none when the queue is closed.
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// Long enough for any thread to be scheduled, on a machine that is busy.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// An outbox whose thread sends one message for each permit, and what it has sent.
    fn held_up() -> (Outbox, std::sync::mpsc::Sender<()>, Receiver<u8>) {
        let (permit, permits) = channel();
        let (sent, arrived) = channel();
        let send = move |bytes: Vec<u8>| {
            sent.send(bytes[0]).unwrap();
            // Without a permit, or somebody who could give one, it stays here.
            let _ = permits.recv();
        };
        (Outbox::new("test".into(), send).unwrap(), permit, arrived)
    }

    #[test]
    fn the_newest_messages_stay_when_a_neighbour_takes_nothing() {
        let (outbox, permit, arrived) = held_up();
        outbox.put(vec![0]);
        assert_eq!(arrived.recv_timeout(PATIENCE), Ok(0), "the first one is on its way, and held up");
        (1..=50).for_each(|number| outbox.put(vec![number]));
        (0..=Outbox::DEPTH).for_each(|_| permit.send(()).unwrap());
        outbox.drain(Instant::now() + PATIENCE);
        let rest: Vec<u8> = arrived.try_iter().collect();
        assert_eq!(rest, (50 - Outbox::DEPTH as u8 + 1..=50).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_that_wait_are_bounded_but_the_newest_message_stays() {
        let (outbox, permit, arrived) = held_up();
        outbox.put(vec![0]);
        assert_eq!(arrived.recv_timeout(PATIENCE), Ok(0), "the first one is on its way, and held up");
        for (number, length) in [(1, 1), (2, Outbox::BYTES / 2), (3, Outbox::BYTES / 2), (4, 2 * Outbox::BYTES)] {
            outbox.put(vec![number; length]);
            let waiting: Vec<u8> = outbox.queue.lock().messages.iter().map(|bytes| bytes[0]).collect();
            assert_eq!(waiting, [&[1][..], &[1, 2], &[2, 3], &[4]][usize::from(number) - 1]);
        }
        (0..2).for_each(|_| permit.send(()).unwrap());
        outbox.drain(Instant::now() + PATIENCE);
    }

    #[test]
    fn draining_waits_for_what_is_under_way_but_not_for_ever() {
        let (outbox, permit, arrived) = held_up();
        outbox.put(vec![0]);
        assert_eq!(arrived.recv_timeout(PATIENCE), Ok(0));
        let before = Instant::now();
        outbox.drain(before + Duration::from_millis(50));
        assert!(before.elapsed() >= Duration::from_millis(50), "the message has not left yet");
        permit.send(()).unwrap();
        let before = Instant::now();
        outbox.drain(before + PATIENCE);
        assert!(before.elapsed() < PATIENCE, "it has left");
    }

    #[test]
    fn dropping_an_outbox_does_not_wait_for_its_neighbour() {
        let (outbox, permit, arrived) = held_up();
        outbox.put(vec![0]);
        outbox.put(vec![1]);
        assert_eq!(arrived.recv_timeout(PATIENCE), Ok(0));
        drop(outbox);
        permit.send(()).unwrap();
        assert!(arrived.recv_timeout(PATIENCE).is_err(), "its thread ends, and sends nothing more");
    }
}
