//! Transitions that concern several parts of a peer at once: a member's state changes, an edge is
//! closed, a life ends, an epoch begins.

use super::ledger::Reversal;
use super::machine::Peer;
use super::membership::{Incarnation, MemberState};
use super::notice::{EpochCause, Notice};
use crate::Scalar;

impl<T: Scalar> Peer<T> {
    /// Takes in news of another node. Whatever has changed, both edges to it are undone: to a new
    /// life nothing was sent yet, and the mass of a dead one would be lost.
    pub(super) fn learn(&mut self, node: u32, news: MemberState) {
        if !self.membership.learn(node, news, self.clock.now()) {
            return;
        }
        self.exchange.renew(node);
        let reversal = self.ledger.reverse(node);
        self.neighbours.set_members(self.membership.members());
        self.bear(node, reversal);
    }

    /// Declares a member dead.
    pub(super) fn evict(&mut self, node: u32) {
        if node != self.config.node
            && let Some(incarnation) = self.membership.table().living(node)
        {
            self.notice(Notice::Eviction { member: node });
            self.learn(node, MemberState::dead(incarnation));
        }
    }

    /// Treats a node as dead whatever it says from now on.
    pub(super) fn expel(&mut self, node: u32) {
        if node != self.config.node {
            self.membership.expel(node);
            self.evict(node);
        }
    }

    /// Declares members dead that have been silent for too long.
    pub(super) fn evict_silent(&mut self) {
        for node in self.membership.silent(self.clock.ticks()) {
            self.evict(node);
        }
    }

    /// Closes edges through which nothing comes: their mass is of no use to anybody there.
    pub(super) fn close_unanswered(&mut self) {
        let (tick, patience) = (self.clock.ticks(), self.config.policy.close_after);
        let overdue: Vec<u32> = self.exchange.unanswered(self.ledger.targets(), tick, patience).collect();
        for node in overdue {
            self.notice(Notice::Closure { to: node });
            self.close(node);
        }
    }

    /// Takes back what went over the edge to a node, and tells everybody, so that the node gives it
    /// up.
    pub(super) fn close(&mut self, node: u32) {
        if self.ledger.sent(node).is_none() {
            return;
        }
        let reversal = self.ledger.take_back(node);
        let generation = self.exchange.close(node);
        self.membership.announce_closure(node, generation, self.clock.round());
        self.bear(node, reversal);
    }

    /// Gives up what was received from a node in earlier generations, since the node has taken it
    /// back.
    pub(super) fn give_up_before(&mut self, from: u32, generation: u64) {
        if self.exchange.raise_its_generation(from, generation) {
            let reversal = self.ledger.give_up(from);
            self.bear(from, reversal);
        }
    }

    /// Begins a new epoch after a reversal of the edges to a node that is too large to be borne.
    ///
    /// What flows through a node on directed edges never cancels, so undoing its edges can change
    /// far more than there is.
    fn bear(&mut self, node: u32, reversal: Reversal) {
        let Reversal::Relative(size) = reversal else { return };
        self.notice(Notice::Reversal { node, size });
        if size > self.config.policy.large_reversal || !self.config.algorithm.bears_reversals() {
            self.begin_epoch(EpochCause::Reversal);
        }
    }

    /// Begins a new life, without any edge, because others count this peer as dead or know of a
    /// later life of it.
    pub(super) fn refute(&mut self, rumour: Incarnation) {
        self.membership.refute(rumour, self.clock.now());
        self.notice(Notice::Refutation { life: self.membership.incarnation().counter });
        self.write_ahead.begin_life();
        self.exchange.begin_life();
        let input = self.ledger.input().to_vec();
        self.ledger.begin(&input);
        self.local.load_mass(self.ledger.mass());
        self.neighbours.set_members(self.membership.members());
        self.clock.await_incarnation();
        if !self.config.algorithm.bears_reversals() {
            self.begin_epoch(EpochCause::NewLife);
        }
    }

    /// Begins a new life because others know more of the present one than this peer does: its disk
    /// has lost what it reported as safe. A life that was never on a disk has forgotten nothing,
    /// whatever others say.
    pub(super) fn abandon_forgotten_life(&mut self) {
        if self.write_ahead.is_resumed() {
            self.counters.forgotten += 1;
            self.refute(self.membership.incarnation());
        } else {
            self.counters.malformed += 1;
        }
    }

    /// Begins a new epoch, for everybody who hears of it.
    pub(super) fn begin_epoch(&mut self, cause: EpochCause) {
        self.enter(self.clock.epoch().saturating_add(1), cause);
    }

    /// Enters an epoch at the present point.
    pub(super) fn enter(&mut self, epoch: u64, cause: EpochCause) {
        self.clock.enter(epoch);
        self.notice(Notice::Epoch { epoch, cause });
        self.exchange.enter_epoch(epoch);
        self.begin(&self.local.point());
    }

    /// Starts the trackers anew at a point: there are no edges, and the mass is what the agent
    /// contributes.
    pub(super) fn begin(&mut self, point: &[T]) {
        let levels = self.local.begin(point, self.clock.round());
        if levels.is_none() {
            self.notice(Notice::BadStep);
        }
        self.ledger.begin(&levels.unwrap_or_else(|| vec![0; self.local.contribution().len()]));
        self.local.load_mass(self.ledger.mass());
    }

    /// Counts something rare, and keeps it for those who want to know.
    pub(super) fn notice(&mut self, notice: Notice) {
        self.counters.count(&notice);
        self.notices.add(self.clock.round(), notice);
    }
}
