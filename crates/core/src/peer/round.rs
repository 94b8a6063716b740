//! One round of a peer: give shares, take what has arrived, mix, correct, book.

use super::event::{Effect, Record};
use super::ledger::Fraction;
use super::machine::Peer;
use super::neighbours::Links;
use super::notice::{EpochCause, Notice};
use super::outgoing::Outgoing;
use super::policy::SyncMode;
use super::wire::{Contents, Intent};
use crate::algorithm::Request;
use crate::rng::{Purpose, Stream};
use crate::{Mask, Scalar};

/// In one of this many rounds, a peer calls a node that is not known or thought dead. Otherwise the
/// parts of a network that was cut in two would never find together again.
const CALL_ABSENT_ONE_IN: usize = 3;
/// In one of this many rounds, a peer calls a member that the schedule may not name, to exchange
/// gossip.
const CALL_MEMBER_ONE_IN: usize = 4;
/// One of this many such calls goes to any member, the others go where an answer is waited for.
const CALL_ANY_ONE_IN: usize = 4;

impl<T: Scalar> Peer<T> {
    /// Opens a round: sends its messages.
    pub(super) fn open(&mut self, effects: &mut Vec<Effect>) {
        self.clock.open_round();
        let mask = self.config.algorithm.sends(self.clock.round());
        let used = if mask == Mask::NONE { Vec::new() } else { self.give_shares(mask, effects) };
        // Mass that was lost on an edge that the schedule has left would otherwise be stranded
        // there.
        let idle = self.exchange.longest_idle(self.ledger.targets(), &used, self.idle_until());
        if let Some(idle) = idle {
            let contents = Contents { mass: true, ..Contents::default() };
            self.send(Outgoing { to: idle, mask: Mask::ALL, contents, share: Fraction::ZERO, table: false }, effects);
        }
        self.call_somebody(effects);
    }

    /// The round after which no mass may have gone over an edge that counts as idle.
    ///
    /// A free-running peer does not wait for receipts that may be on their way: to wait cost up to
    /// a third more rounds where 30 % of messages were lost. In lockstep hardly anything is lost,
    /// and messages outside of the schedule would come in an order that differs from run to run.
    fn idle_until(&self) -> u64 {
        const ROUNDS_PER_NODE: u64 = 4;
        let (round, policy) = (self.clock.round(), &self.config.policy);
        if policy.sync == SyncMode::Free || round >= policy.rounds {
            return round;
        }
        round.saturating_sub(64 + ROUNDS_PER_NODE * self.format.nodes() as u64)
    }

    /// Sends a share to each target of the round, or to a substitute, and returns who got a
    /// message.
    fn give_shares(&mut self, mask: Mask, effects: &mut Vec<Effect>) -> Vec<u32> {
        let mut messages: Vec<Outgoing> = Vec::new();
        let links = self.neighbours.at(self.clock.round()).clone();
        for &(target, fraction) in &links.targets {
            let substitute = if self.carries_mass(target) { None } else { self.substitute(target, &links) };
            let own = if substitute.is_some() { Fraction::ZERO } else { fraction };
            messages.push(self.share(target, own, mask));
            if let Some(other) = substitute.filter(|other| messages.iter().all(|message| message.to != *other)) {
                messages.push(self.share(other, fraction, mask));
            }
        }
        let used = messages.iter().map(|message| message.to).collect();
        self.send_all(messages, effects);
        used
    }

    /// Sends the messages of this round once more, with the mass that was given already.
    pub(super) fn send_again(&mut self, effects: &mut Vec<Effect>) {
        let round = self.clock.round();
        let mask = self.config.algorithm.sends(round);
        let targets = self.neighbours.at(round).targets.iter();
        let message = |&(to, _): &(u32, Fraction)| {
            let contents = Contents { pulled: true, mass: self.ledger.sent(to).is_some(), ..Contents::default() };
            Outgoing { to, mask, contents, share: Fraction::ZERO, table: false }
        };
        let messages: Vec<Outgoing> = targets.map(message).collect();
        self.send_all(messages, effects);
        self.call_somebody(effects);
    }

    /// Whether our edge to a node is open: it is alive, and knows of the last closing.
    fn is_open(&self, target: u32) -> bool {
        self.membership.table().living(target).is_some() && !self.exchange.edge(target).is_closed()
    }

    /// Whether a share that is sent to a node has a chance to be used.
    pub(super) fn carries_mass(&self, target: u32) -> bool {
        let silence = self.exchange.edge(target).unanswered(self.clock.ticks());
        self.is_open(target) && silence <= self.config.policy.unreachable_after
    }

    /// The node that gets the share of a target that cannot be reached: the next living member that
    /// is not a target itself.
    fn substitute(&self, target: u32, links: &Links) -> Option<u32> {
        let members = self.membership.members();
        let place = members.partition_point(|&member| member <= target);
        let is_target = |node: u32| links.targets.iter().any(|(target, _)| *target == node);
        let free = |&node: &u32| node != self.config.node && !is_target(node) && links.reaches(node);
        members[place..].iter().chain(&members[..place]).copied().find(free)
    }

    /// A message of this round to a node: pulled segments always, and all mass that was ever sent
    /// over the edge if that is open. A share is added if the edge carries mass.
    fn share(&mut self, to: u32, fraction: Fraction, mask: Mask) -> Outgoing {
        let open = self.is_open(to);
        if open {
            self.ledger.open(to);
        }
        let gives = open && self.carries_mass(to) && self.starvation.may_give();
        let contents = Contents { pulled: true, mass: open, ..Contents::default() };
        Outgoing { to, mask, contents, share: if gives { fraction } else { Fraction::ZERO }, table: false }
    }

    /// Gives a node that asks for a share, because its sources bring it no mass, what a target
    /// gets.
    pub(super) fn grant_share(&mut self, asker: u32, effects: &mut Vec<Effect>) {
        let links = self.neighbours.at(self.clock.round());
        if links.reaches(asker)
            && let Some(&(_, fraction)) = links.targets.first()
        {
            let message = self.share(asker, fraction, Mask::ALL);
            self.send(message, effects);
        }
    }

    /// Calls nodes that the schedule does not name: now and then one that is absent, and a member.
    /// A starved peer asks a member for a share in every round.
    fn call_somebody(&mut self, effects: &mut Vec<Effect>) {
        let (seed, node, tick) = (self.config.seed, self.config.node as usize, self.clock.ticks());
        let mut stream = Stream::new(seed, node, tick, Purpose::Contacts);
        let asks = self.starvation.asks();
        for (one_in, alive) in [(CALL_ABSENT_ONE_IN, false), (if asks { 1 } else { CALL_MEMBER_ONE_IN }, true)] {
            if stream.below(one_in) != 0 {
                continue;
            }
            let waiting = if alive && !asks { self.choose_waiting(&mut stream) } else { None };
            if let Some(node) = waiting.or_else(|| self.choose(alive, &mut stream)) {
                let intent = if asks && alive { Intent::RequestShare } else { Intent::News };
                self.send(Outgoing::gossip(node, Contents { intent, ..Contents::default() }, false), effects);
            }
        }
    }

    /// The member that has waited longest for an answer, most of the time.
    ///
    /// Where edges lead one way, acknowledgements and receipts come back through others, and the
    /// more members there are, the longer that takes: longer than a sender waits before it takes an
    /// edge for broken. In lockstep, what a round sends must follow from rounds alone.
    fn choose_waiting(&mut self, stream: &mut Stream) -> Option<u32> {
        if self.config.policy.sync != SyncMode::Free || stream.below(CALL_ANY_ONE_IN) == 0 {
            return None;
        }
        let links = self.neighbours.at(self.clock.round());
        self.exchange.longest_waiting(|node| links.reaches(node))
    }

    /// A random reachable node that is alive, or one that is not.
    fn choose(&mut self, alive: bool, stream: &mut Stream) -> Option<u32> {
        let links = self.neighbours.at(self.clock.round());
        let (me, members) = (self.config.node, &**self.membership.members());
        let Some(reachable) = &links.reachable else {
            let others = members.partition_point(|&member| member < me);
            let absent = self.format.nodes() - members.len();
            let count = if alive { members.len() - 1 } else { absent };
            let number = (count > 0).then(|| stream.below(count))?;
            return Some(if alive {
                members[number + usize::from(number >= others)]
            } else {
                nth_absent(members, number)
            });
        };
        let is_member = |node: u32| members.binary_search(&node).is_ok();
        let wanted: Vec<u32> =
            reachable.iter().copied().filter(|&node| node != me && is_member(node) == alive).collect();
        (!wanted.is_empty()).then(|| wanted[stream.below(wanted.len())])
    }

    /// Ends a round: mixes what has arrived, corrects, and books.
    pub(super) fn complete(&mut self, effects: &mut Vec<Effect>) {
        let (round, sync) = (self.clock.round(), self.config.policy.sync);
        let mask = self.config.algorithm.sends(round);
        let sources = &self.neighbours.at(round).sources;
        let arrived = self.exchange.take(round, self.clock.epoch(), sync, sources);
        let overflow = self.apply(&arrived, mask);
        if self.is_checkpoint(round + 1) {
            self.local.measure_disagreement();
        }
        self.local.prepare_step(self.ledger.mass(), self.ledger.input());
        let outcome = self.local.step(round, |old, new| self.ledger.book(self.config.unit, old, new).is_ok());
        if !outcome.taken {
            self.notice(Notice::BadStep);
            // As if there had been no step.
            self.mix(&arrived, mask);
            self.local.prepare_step(self.ledger.mass(), self.ledger.input());
        }
        self.local.add_movements(&self.format.pulled_chunks()[..self.format.completed_chunks()]);
        self.local.end_round(self.ledger.mass());
        self.clock.end_round();
        self.counters.rounds += 1;
        if outcome.request == Request::Restart {
            self.begin_epoch(EpochCause::Method);
        } else if overflow || self.ledger.is_full() {
            self.begin_epoch(EpochCause::Overflow);
        }
        if self.is_checkpoint(self.clock.round()) {
            let (ticket, record) = (self.write_ahead.next_ticket(), self.checkpoint());
            effects.push(Effect::Store { ticket, record });
        }
    }

    fn is_checkpoint(&self, round: u64) -> bool {
        let every = self.config.policy.checkpoint_every;
        every > 0 && round.is_multiple_of(every)
    }

    /// The present point as a record, to start again from there.
    pub fn checkpoint(&self) -> Record {
        let point = self.local.point();
        let mut bytes = Vec::with_capacity(point.len() * T::BYTES);
        T::write_all(&point, &mut bytes);
        Record::Checkpoint { round: self.clock.round(), point: bytes }
    }
}

/// The node with this number among those that are not members; members are ascending.
fn nth_absent(members: &[u32], number: usize) -> u32 {
    // Before the member at a place there are as many absent nodes as its number is above the place.
    let (mut before, mut after) = (0, members.len());
    while before < after {
        let place = usize::midpoint(before, after);
        if members[place] as usize - place <= number {
            before = place + 1;
        } else {
            after = place;
        }
    }
    (number + before) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_absent_node_has_its_number() {
        let members = [1, 2, 5, 9];
        let absent: Vec<u32> = (0..8).map(|number| nth_absent(&members, number)).collect();
        assert_eq!(absent, [0, 3, 4, 6, 7, 8, 10, 11]);
        assert_eq!(nth_absent(&[], 4), 4);
    }
}
