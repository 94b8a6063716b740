//! One simulated node: its peer, its disk, and what currently slows it down.

use std::collections::VecDeque;

use fabnet_core::Peer;
use fabnet_core::peer::Record;

use super::disk::Disk;
use super::queue::TICK;

/// A node of the cluster, running or not.
#[derive(Default)]
pub(super) struct Node {
    /// The peer, while the node runs.
    pub(super) peer: Option<Peer<f64>>,
    pub(super) disk: Disk,
    /// Records on their way to the disk, with the tickets by which the peer waits for them.
    pub(super) writes: VecDeque<(u64, Record)>,
    /// The newest message of which the newest state that was reported as stored knows.
    pub(super) stored_sequence: u64,
    /// The number of times that the node has started or stopped.
    pub(super) boot: u64,
    /// Whether the node has left for good, or was expelled.
    pub(super) absent: bool,
    /// Whether the node lies, beside what its peer says.
    pub(super) lies: bool,
    pub(super) impairments: Impairments,
}

impl Node {
    /// Whether an event of this start of the node still counts.
    pub(super) fn runs_since(&self, boot: u64) -> bool {
        self.boot == boot && self.peer.is_some()
    }

    /// Whether the node is down and is going to start again.
    pub(super) fn is_down(&self) -> bool {
        self.peer.is_none() && !self.absent
    }

    /// The counter of the next incarnation.
    pub(super) fn next_counter(&self, now: u64) -> u64 {
        // Without a disk the wall clock takes the place of the counter. It is far above every
        // counter that starts from zero, so that it is newer than any incarnation before it.
        const WALL_CLOCK: u64 = 1 << 40;
        self.disk.incarnation.map_or(WALL_CLOCK + now, |last| last.counter + 1)
    }
}

/// Faults that impair a running node. Each field is the moment at which one ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Impairments {
    /// The node is not scheduled by its system.
    pub(super) pause: u64,
    /// Messages to the node are dropped.
    pub(super) deafness: u64,
    /// Messages to the node wait.
    pub(super) slowness: u64,
    /// The disk is full.
    pub(super) full_disk: u64,
    /// The clock of the node ticks far more slowly.
    pub(super) straggling: u64,
}

impl Impairments {
    /// How often the clock of a straggler ticks more slowly.
    const STRAGGLER: u64 = 100;

    /// The time for which the node is not run.
    pub(super) fn remaining_pause(&self, now: u64) -> u64 {
        self.pause.saturating_sub(now)
    }

    /// The time for which a message has to wait.
    pub(super) fn delivery_wait(&self, now: u64) -> u64 {
        self.pause.max(self.slowness).saturating_sub(now)
    }

    /// Whether messages to the node are dropped.
    pub(super) fn is_deaf(&self, now: u64) -> bool {
        self.deafness > now
    }

    /// Whether nothing can be stored.
    pub(super) fn disk_is_full(&self, now: u64) -> bool {
        self.full_disk > now
    }

    /// The time from one tick of the node to the next.
    pub(super) fn tick_period(&self, now: u64) -> u64 {
        if self.straggling > now { Self::STRAGGLER * TICK } else { TICK }
    }
}

#[cfg(test)]
mod tests {
    use fabnet_core::peer::Incarnation;

    use super::*;
    use crate::attack::disk::WriteFault;

    #[test]
    fn a_healthy_node_waits_for_nothing() {
        let healthy = Impairments::default();
        assert_eq!((healthy.remaining_pause(9), healthy.delivery_wait(9), healthy.tick_period(9)), (0, 0, TICK));
        assert!(!healthy.is_deaf(9) && !healthy.disk_is_full(9));
    }

    #[test]
    fn impairments_end_at_their_time() {
        let impaired = Impairments { pause: 20, deafness: 30, slowness: 25, full_disk: 40, straggling: 50 };
        assert_eq!((impaired.remaining_pause(18), impaired.remaining_pause(20)), (2, 0));
        assert_eq!((impaired.delivery_wait(18), impaired.delivery_wait(25)), (7, 0), "the longer of both counts");
        assert!(impaired.is_deaf(29) && !impaired.is_deaf(30));
        assert!(impaired.disk_is_full(39) && !impaired.disk_is_full(40));
        assert_eq!((impaired.tick_period(49), impaired.tick_period(50)), (100 * TICK, TICK));
    }

    #[test]
    fn the_next_incarnation_is_newer_than_the_stored_one_or_than_any_without_a_disk() {
        let mut node = Node::default();
        let without_disk = node.next_counter(77);
        assert!(without_disk > 1 << 32 && node.next_counter(78) > without_disk);
        let incarnation = Incarnation { counter: 5, nonce: 0 };
        node.disk.write(Record::Incarnation(incarnation), WriteFault::Nothing);
        assert_eq!(node.next_counter(77), 6);
    }
}
