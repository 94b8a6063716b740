//! The event queue of a simulation: everything that is going to happen, in the order of time.

use std::collections::BTreeMap;

use super::fault::Fault;

/// Moments per tick. Simulated time is counted in moments, so that events fall between ticks.
pub(super) const TICK: u64 = 16;

/// Something that is going to happen.
///
/// `boot` is the number of the node's start that an entry belongs to: entries of an earlier start
/// come to nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scheduled {
    /// The clock of a node ticks.
    Tick { node: u32, boot: u64 },
    /// A message arrives.
    Deliver { to: u32, bytes: Vec<u8> },
    /// The oldest pending write of a node reaches its disk.
    Write { node: u32, boot: u64 },
    /// A node starts.
    Start { node: u32, boot: u64 },
    /// A fault is injected.
    Inject(Fault),
    /// A node hears that a liar is expelled.
    Expel { node: u32, liar: u32 },
}

/// The pending events, and the clock that they drive.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    now: u64,
    /// By time, then by the order of scheduling, which makes every simulation reproducible.
    pending: BTreeMap<(u64, u64), Scheduled>,
    scheduled: u64,
    happened: u64,
}

impl EventQueue {
    /// The present, in moments.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The number of events that have happened.
    pub(super) fn happened(&self) -> u64 {
        self.happened
    }

    /// Lets something happen after a delay in moments.
    pub(super) fn schedule(&mut self, delay: u64, event: Scheduled) {
        self.scheduled += 1;
        self.pending.insert((self.now + delay, self.scheduled), event);
    }

    /// Removes the next event that happens by `end`, and sets the clock to its time. Without such
    /// an event the clock goes to `end`.
    pub(super) fn next_until(&mut self, end: u64) -> Option<Scheduled> {
        match self.pending.first_entry() {
            Some(entry) if entry.key().0 <= end => {
                self.now = entry.key().0;
                self.happened += 1;
                Some(entry.remove())
            }
            _ => {
                self.now = end;
                None
            }
        }
    }

    /// The pending events with their times, for tests.
    #[cfg(test)]
    pub(super) fn pending(&self) -> impl Iterator<Item = (u64, &Scheduled)> {
        self.pending.iter().map(|((time, _), event)| (*time, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(node: u32) -> Scheduled {
        Scheduled::Tick { node, boot: 0 }
    }

    #[test]
    fn events_happen_in_the_order_of_time() {
        let mut queue = EventQueue::default();
        for (delay, node) in [(30, 3), (10, 1), (20, 2)] {
            queue.schedule(delay, tick(node));
        }
        for (time, node) in [(10, 1), (20, 2), (30, 3)] {
            assert_eq!(queue.next_until(100), Some(tick(node)));
            assert_eq!(queue.now(), time);
        }
        assert_eq!((queue.next_until(100), queue.happened()), (None, 3));
    }

    #[test]
    fn events_of_one_moment_happen_in_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        (0..300).for_each(|node| queue.schedule(5, tick(node)));
        for node in 0..300 {
            assert_eq!(queue.next_until(5), Some(tick(node)));
        }
    }

    #[test]
    fn the_clock_goes_to_the_end_and_later_events_wait() {
        let mut queue = EventQueue::default();
        queue.schedule(50, tick(0));
        assert_eq!(queue.next_until(49), None);
        assert_eq!(queue.now(), 49);
        queue.schedule(5, tick(1));
        assert_eq!((queue.next_until(60), queue.now()), (Some(tick(0)), 50));
        assert_eq!((queue.next_until(60), queue.now()), (Some(tick(1)), 54), "delays count from the present");
    }
}
