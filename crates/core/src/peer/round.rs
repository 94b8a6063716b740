//! One round of a peer: give shares, take what has arrived, mix, correct, book.

use super::event::{Effect, Record};
use super::exchange::Unread;
use super::ledger::{Fraction, Overflow};
use super::machine::Peer;
use super::neighbours::Links;
use super::pull::Pull;
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

impl<T: Scalar> Peer<T> {
    /// Opens a round: sends its messages.
    pub(super) fn open(&mut self, effects: &mut Vec<Effect>) {
        self.clock.open_round();
        let mask = self.config.algorithm.sends(self.clock.round());
        let used = if mask == Mask::NONE { Vec::new() } else { self.give_shares(mask, effects) };
        // Mass that was lost on an edge that the schedule has left would otherwise be stranded
        // there.
        let idle = self.exchange.longest_idle(self.ledger.targets(), &used);
        if let Some(idle) = idle {
            self.send(idle, Mask::ALL, Contents { mass: true, ..Contents::default() }, false, effects);
        }
        self.call_somebody(effects);
    }

    /// Sends a share to each target of the round, or to a substitute, and returns who got a
    /// message.
    fn give_shares(&mut self, mask: Mask, effects: &mut Vec<Effect>) -> Vec<u32> {
        let mut used = Vec::new();
        let mut before = std::mem::take(&mut self.mass_before);
        before.clear();
        before.extend(self.ledger.mass());
        let links = self.neighbours.at(self.clock.round()).clone();
        for &(target, fraction) in &links.targets {
            let substitute = if self.carries_mass(target) { None } else { self.substitute(target, &links) };
            let own = if substitute.is_some() { Fraction::ZERO } else { fraction };
            self.share(target, own, mask, &before, effects);
            used.push(target);
            if let Some(other) = substitute.filter(|other| !used.contains(other)) {
                self.share(other, fraction, mask, &before, effects);
                used.push(other);
            }
        }
        self.mass_before = before;
        used
    }

    /// Sends the messages of this round once more, with the mass that was given already.
    pub(super) fn send_again(&mut self, effects: &mut Vec<Effect>) {
        let round = self.clock.round();
        let mask = self.config.algorithm.sends(round);
        let targets = self.neighbours.at(round).targets.clone();
        for (target, _) in targets {
            let mass = self.ledger.sent(target).is_some();
            self.send(target, mask, Contents { pulled: true, mass, ..Contents::default() }, false, effects);
        }
        self.call_somebody(effects);
    }

    /// Whether our edge to a node is open: it is alive, and knows of the last closing.
    fn is_open(&self, target: u32) -> bool {
        self.membership.table().living(target).is_some() && !self.exchange.edge(target).is_closed()
    }

    /// Whether a share that is sent to a node has a chance to be used.
    fn carries_mass(&self, target: u32) -> bool {
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

    /// Sends a message of this round to a node: pulled segments always, and all mass that was ever
    /// sent over the edge if that is open. A share of `before` is added if the edge carries mass.
    fn share(&mut self, to: u32, fraction: Fraction, mask: Mask, before: &[i64], effects: &mut Vec<Effect>) {
        let open = self.is_open(to);
        if open {
            let gives = self.carries_mass(to) && self.starvation.may_give();
            let fraction = if gives { fraction } else { Fraction::ZERO };
            self.ledger.send(to, self.format.pushed(mask), fraction, before);
        }
        self.send(to, mask, Contents { pulled: true, mass: open, ..Contents::default() }, false, effects);
    }

    /// Gives a node that asks for a share, because its sources bring it no mass, what a target
    /// gets.
    pub(super) fn grant_share(&mut self, asker: u32, effects: &mut Vec<Effect>) {
        let links = self.neighbours.at(self.clock.round());
        if links.reaches(asker)
            && let Some(&(_, fraction)) = links.targets.first()
        {
            let before = self.ledger.mass().to_vec();
            self.share(asker, fraction, Mask::ALL, &before, effects);
        }
    }

    /// Calls nodes that the schedule does not name, at random: now and then one that is absent, and
    /// any member; a starved peer asks a member for a share in every round.
    fn call_somebody(&mut self, effects: &mut Vec<Effect>) {
        let (seed, node, tick) = (self.config.seed, self.config.node as usize, self.clock.ticks());
        let mut stream = Stream::new(seed, node, tick, Purpose::Contacts);
        let asks = self.starvation.asks();
        for (one_in, alive) in [(CALL_ABSENT_ONE_IN, false), (if asks { 1 } else { CALL_MEMBER_ONE_IN }, true)] {
            if stream.below(one_in) != 0 {
                continue;
            }
            if let Some(node) = self.choose(alive, &mut stream) {
                let intent = if asks && alive { Intent::RequestShare } else { Intent::News };
                self.send(node, Mask::NONE, Contents { intent, ..Contents::default() }, false, effects);
            }
        }
    }

    /// A random reachable node that is alive, or one that is not.
    fn choose(&mut self, alive: bool, stream: &mut Stream) -> Option<u32> {
        let links = self.neighbours.at(self.clock.round());
        let table = self.membership.table();
        let wanted =
            |&node: &u32| node != self.config.node && table.living(node).is_some() == alive && links.reaches(node);
        let candidates = || (0..self.format.nodes() as u32).filter(wanted);
        let count = candidates().count();
        if count > 0 { candidates().nth(stream.below(count)) } else { None }
    }

    /// Ends a round: mixes what has arrived, corrects, and books.
    pub(super) fn complete(&mut self, effects: &mut Vec<Effect>) {
        let (round, sync) = (self.clock.round(), self.config.policy.sync);
        let mask = self.config.algorithm.sends(round);
        let links = self.neighbours.at(round);
        let arrived = self.exchange.take(round, self.clock.epoch(), sync, &links.sources);
        self.counters.applied += arrived.len() as u64;
        self.local.mix(&Pull::new(&self.format, links, sync, mask, &arrived));
        if self.is_checkpoint(round + 1) {
            self.local.measure_disagreement();
        }
        let overflow = self.receive_mass(&arrived).is_err();
        self.local.prepare_step(self.ledger.mass(), self.ledger.input());
        let outcome = self.local.step(round, |levels| self.ledger.book(levels).is_ok());
        self.counters.bad_steps += u64::from(!outcome.taken);
        self.local.end_round(self.ledger.mass());
        self.clock.end_round();
        self.counters.rounds += 1;
        if outcome.request == Request::Restart || overflow || self.ledger.is_full() {
            self.begin_epoch();
        }
        if self.is_checkpoint(self.clock.round()) {
            let (ticket, record) = (self.write_ahead.next_ticket(), self.checkpoint());
            effects.push(Effect::Store { ticket, record });
        }
    }

    /// Books the mass of the messages that have arrived, and counts whether there was any.
    ///
    /// A peer without sources expects none. Where nothing is pushed at all, hearing anybody is
    /// enough.
    fn receive_mass(&mut self, arrived: &[Unread]) -> Result<(), Overflow> {
        let heard = self.ledger.mass().is_empty() && arrived.iter().any(|message| message.header.contents.pulled);
        let mut fed = heard || self.neighbours.at(self.clock.round()).sources.is_empty();
        let mut outcome = Ok(());
        for message in arrived.iter().filter(|message| message.header.contents.mass) {
            let places = self.format.pushed(message.header.mask);
            match self.ledger.receive(message.header.from, places, message.mass()) {
                Ok(more) => fed |= more,
                Err(overflow) => outcome = Err(overflow),
            }
        }
        self.starvation.count(fed);
        outcome
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
