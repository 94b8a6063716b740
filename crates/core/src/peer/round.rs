//! One round of a peer: send, take what has arrived, mix, correct, book.

use super::contact::Unread;
use super::ledger::Overflow;
use super::mass::Fraction;
use super::message::{Contents, Manner};
use super::neighbours::Links;
use super::policy::Pace;
use super::state::{Effect, Peer, Phase, Record};
use crate::algorithm::{Agent, Fresh, Request};
use crate::rng::{Purpose, Stream};
use crate::segment::larger;
use crate::{Kind, Mask, Oracle, Scalar, linalg};

/// After so many rounds that brought nothing, a peer asks others than its sources.
const ASK_AFTER: u64 = 8;

impl<T: Scalar> Peer<T> {
    /// The scalars of a point.
    pub(super) fn point_width(&self) -> usize {
        self.task.algorithm.blocks().width() + self.task.problem.private(self.task.node as usize)
    }

    /// Where the problem lets this agent start.
    pub(super) fn starting_point(&self) -> Vec<T> {
        self.task.algorithm.starting_point(&*self.task.problem, self.task.node as usize)
    }

    /// Where it is.
    pub(super) fn point(&self) -> Vec<T> {
        let mut point = vec![T::zero(); self.point_width()];
        self.task.algorithm.point(&self.row, &self.keep, &mut point);
        point
    }

    /// Starts an epoch at a point: no edges, and as much mass as is put in.
    ///
    /// Where that is not finite or cannot be booked, the samples of later rounds may do; and a point that has run away is given up for the one at the start.
    pub(super) fn begin(&mut self, point: &[T]) {
        const TRIES: u64 = 8;
        let start = self.starting_point();
        let before = (self.row.clone(), self.keep.clone());
        for (point, later) in [point, &start].into_iter().flat_map(|point| (0..TRIES).map(move |later| (point, later)))
        {
            (self.row, self.keep) = before.clone();
            let mut oracle = Oracle {
                problem: &*self.task.problem,
                seed: self.task.seed,
                agent: self.task.node as usize,
                round: self.round + later,
                work: &mut self.work,
            };
            let fresh = Fresh { row: &mut self.row, keep: &mut self.keep, input: &mut self.input };
            self.task.algorithm.begin(point, fresh, &mut oracle);
            if let Some(booked) = self.booked().filter(|_| self.is_finite(&self.row)) {
                self.ledger.begin(&booked);
                self.refresh_row();
                return;
            }
        }
        // Nothing is finite: this agent only listens until an epoch finds it better.
        self.counters.bad_steps += 1;
        (self.row, self.keep) = before;
        self.input.fill(T::zero());
        self.ledger.begin(&vec![0; self.input.len()]);
        self.refresh_row();
    }

    /// Whether a row is finite, and what stays are numbers: an algorithm may keep an infinite one.
    fn is_finite(&self, row: &[T]) -> bool {
        row.iter().fold(true, |all, scalar| all & scalar.is_finite())
            && self.keep.iter().fold(true, |all, scalar| all & !scalar.is_nan())
    }

    /// What is put in, in whole units; none if it cannot be booked.
    fn booked(&self) -> Option<Vec<i64>> {
        let mut booked = Vec::with_capacity(self.input.len());
        let mut all = true;
        booked.extend(self.input.iter().map(|&level| {
            let units = self.task.unit.units(level);
            all &= units.is_some();
            units.unwrap_or_default()
        }));
        all.then_some(booked)
    }

    /// Pushed segments are what the ledger says.
    pub(super) fn refresh_row(&mut self) {
        for part in self.manifest.layout().pushed() {
            for (scalar, &units) in self.row[part.row.clone()].iter_mut().zip(&self.ledger.mass()[part.input.clone()]) {
                *scalar = self.task.unit.scalar(units);
            }
        }
    }

    /// Sends the messages of a round.
    pub(super) fn open(&mut self, effects: &mut Vec<Effect>) {
        (self.phase, self.waited, self.opened_in) = (Phase::Open, 0, self.epoch);
        let mask = self.task.algorithm.sends(self.round);
        let mut used = Vec::new();
        if mask != Mask::NONE {
            let mut before = std::mem::take(&mut self.before);
            before.clear();
            before.extend(self.ledger.mass());
            let links = self.neighbours.at(self.round).clone();
            for &(target, fraction) in &links.targets {
                let substitute = if self.carries_mass(target) { None } else { self.substitute(target, &links) };
                self.share(
                    target,
                    if substitute.is_some() { Fraction::ZERO } else { fraction },
                    mask,
                    &before,
                    effects,
                );
                used.push(target);
                if let Some(other) = substitute.filter(|other| !used.contains(other)) {
                    self.share(other, fraction, mask, &before, effects);
                    used.push(other);
                }
            }
            self.before = before;
        }
        if let Some(idle) = self.idle_edge(&used) {
            self.send(idle, Mask::ALL, Contents { mass: true, ..Contents::default() }, false, effects);
        }
        self.call_somebody(effects);
    }

    /// Sends the messages of this round once more, with what is in them already.
    pub(super) fn send_again(&mut self, effects: &mut Vec<Effect>) {
        let mask = self.task.algorithm.sends(self.round);
        let targets = self.neighbours.at(self.round).targets.clone();
        for (target, _) in targets {
            let mass = self.ledger.sent(target).is_some();
            self.send(target, mask, Contents { pulled: true, mass, ..Contents::default() }, false, effects);
        }
        self.call_somebody(effects);
    }

    /// Whether a share that is sent to a node has a chance to be used.
    fn carries_mass(&self, target: u32) -> bool {
        let contact = &self.contacts[target as usize];
        let silent = contact.unanswered(self.tick) > self.task.policy.unreachable_after;
        self.table.living(target).is_some() && contact.closed_at.is_none() && !silent
    }

    /// Who gets nothing gives less and less often, after 1, 8, 64, … rounds: never again would be for ever, if nobody gave.
    fn may_give(&self) -> bool {
        self.starved == 0 || (self.starved.is_power_of_two() && self.starved.trailing_zeros().is_multiple_of(3))
    }

    /// Instead of a target that cannot be reached: the next living member that is none yet.
    fn substitute(&self, target: u32, links: &Links) -> Option<u32> {
        let members = self.neighbours.members();
        let place = members.partition_point(|&member| member <= target);
        let free = |node: &&u32| {
            **node != self.task.node && links.targets.iter().all(|(other, _)| other != *node) && links.reach(**node)
        };
        members[place..].iter().chain(&members[..place]).find(free).copied()
    }

    /// Sends a share of what there was before, or nothing, but always what was pulled and all that was ever sent.
    fn share(&mut self, to: u32, fraction: Fraction, mask: Mask, before: &[i64], effects: &mut Vec<Effect>) {
        let open = self.table.living(to).is_some() && self.contacts[to as usize].closed_at.is_none();
        if open {
            let fraction = if self.carries_mass(to) && self.may_give() { fraction } else { Fraction::ZERO };
            self.ledger.send(to, self.manifest.pushed(mask), fraction, before);
        }
        self.send(to, mask, Contents { pulled: true, mass: open, ..Contents::default() }, false, effects);
    }

    /// Somebody who hears nobody gets what a neighbour gets.
    pub(super) fn help(&mut self, asker: u32, effects: &mut Vec<Effect>) {
        let links = self.neighbours.at(self.round);
        if links.reach(asker)
            && let Some(&(_, fraction)) = links.targets.first()
        {
            let before = self.ledger.mass().to_vec();
            self.share(asker, fraction, Mask::ALL, &before, effects);
        }
    }

    /// Now and then, somebody whom the schedule does not mention: one that is not known or thought dead, or else parts of a broken network would never find
    /// together; and any member, for news, or for help if the schedule's sources bring nothing.
    fn call_somebody(&mut self, effects: &mut Vec<Effect>) {
        let mut stream = Stream::new(self.task.seed, self.task.node as usize, self.tick, Purpose::Contacts);
        let asks = self.starved > ASK_AFTER;
        for (one_in, alive) in [(3, false), (if asks { 1 } else { 4 }, true)] {
            if stream.below(one_in) != 0 {
                continue;
            }
            let links = self.neighbours.at(self.round);
            let wanted = |node: &u32| {
                *node != self.task.node && self.table.living(*node).is_some() == alive && links.reach(*node)
            };
            let candidates = || (0..self.manifest.nodes() as u32).filter(wanted);
            let count = candidates().count();
            let chosen = if count > 0 { candidates().nth(stream.below(count)) } else { None };
            if let Some(node) = chosen {
                let manner = if asks && alive { Manner::Plea } else { Manner::News };
                self.send(node, Mask::NONE, Contents { manner, ..Contents::default() }, false, effects);
            }
        }
    }

    /// Mixes what has arrived, corrects, and books.
    pub(super) fn complete(&mut self, effects: &mut Vec<Effect>) {
        let fresh = self.take_fresh();
        let mask = self.task.algorithm.sends(self.round);
        self.mix_pulled(&fresh, mask);
        if self.hands_out_checkpoint(self.round + 1) {
            self.disagreement = self.moved_by_mixing();
        }
        let overflow = self.take_mass(&fresh).is_err();
        for part in self.manifest.layout().pushed() {
            let units = self.ledger.mass()[part.input.clone()].iter().zip(&self.ledger.input()[part.input.clone()]);
            for (scalar, (mass, input)) in self.next[part.row.clone()].iter_mut().zip(units) {
                *scalar = self.task.unit.scalar(mass - input);
            }
        }
        let shared = self.manifest.layout().shared;
        self.next[shared..].copy_from_slice(&self.row[shared..]);

        let request = self.step();
        std::mem::swap(&mut self.row, &mut self.next);
        self.refresh_row();
        self.round += 1;
        self.counters.rounds += 1;
        if request == Request::Restart || overflow || self.ledger.is_full() {
            self.bump_epoch();
        }
        if self.hands_out_checkpoint(self.round) {
            let (ticket, record) = (self.next_ticket(), self.checkpoint());
            effects.push(Effect::Store { ticket, record });
        }
    }

    /// The correction, and its level in the books. A step whose result is not finite, or cannot be booked, is not taken: the agent then only mixes.
    fn step(&mut self) -> Request {
        let mut before = std::mem::take(&mut self.undo);
        before.0.clone_from(&self.next);
        before.1.clone_from(&self.keep);
        before.2.clone_from(&self.input);
        let mut oracle = Oracle {
            problem: &*self.task.problem,
            seed: self.task.seed,
            agent: self.task.node as usize,
            round: self.round,
            work: &mut self.work,
        };
        let agent = Agent { now: &self.row, next: &mut self.next, keep: &mut self.keep, input: &mut self.input };
        let request = self.task.algorithm.step(agent, &mut oracle);
        let finite = self.is_finite(&self.next) && self.input.iter().all(|scalar| scalar.is_finite());
        if finite && self.booked().is_some_and(|booked| self.ledger.book(&booked).is_ok()) {
            self.undo = before;
            return request;
        }
        self.counters.bad_steps += 1;
        (self.next, self.keep, self.input) = before;
        // Levels that have grown too large are smaller in a new epoch.
        if finite { Request::Restart } else { Request::Go }
    }

    /// What has arrived since the last round, ascending by source.
    fn take_fresh(&mut self) -> Vec<Unread> {
        let mut fresh = Vec::new();
        let sources = &self.neighbours.at(self.round).sources;
        let mut awaited = sources.iter().map(|(source, _)| *source as usize).peekable();
        for (node, contact) in self.contacts.iter_mut().enumerate() {
            let awaited = awaited.next_if_eq(&node).is_some();
            if contact.unread.is_empty() {
                continue;
            }
            let message = match self.task.policy.pace {
                Pace::Free => contact.unread.pop(),
                Pace::Lockstep { .. } => contact.take(self.round, awaited),
            };
            if let Some(message) = message.filter(|message| message.header.epoch == self.epoch) {
                debug_assert_eq!(message.header.from as usize, node);
                (contact.applied, contact.applied_in) = (contact.applied.max(message.header.sequence), self.round);
                fresh.push(message);
            }
        }
        self.counters.applied += fresh.len() as u64;
        let heard = |source: u32| fresh.binary_search_by_key(&source, |message| message.header.from).is_ok();
        if let Pace::Lockstep { .. } = self.task.policy.pace {
            for &(source, _) in sources.iter().filter(|(source, _)| !heard(*source)) {
                self.contacts[source as usize].missed += 1;
            }
        }
        fresh
    }

    /// Fills pulled segments with the average of oneself and those that have arrived, with weights that sum to 1 over these, and takes the largest of the others.
    fn mix_pulled(&mut self, fresh: &[Unread], mask: Mask) {
        let links = self.neighbours.at(self.round);
        let stranger = links.sources.iter().map(|(_, weight)| *weight).fold(links.own_pull, f64::min);
        let source = |message: &Unread| links.sources.binary_search_by_key(&message.header.from, |(source, _)| *source);
        let pulled = || fresh.iter().filter(|message| message.header.contents.pulled);
        let sources_only = self.task.policy.pace != Pace::Free && pulled().any(|message| source(message).is_ok());
        for part in self.manifest.layout().parts.iter().filter(|part| part.kind != Kind::Push) {
            let (now, next) = (&self.row[part.row.clone()], &mut self.next[part.row.clone()]);
            next.copy_from_slice(now);
            if !mask.has(part.index) {
                continue;
            }
            if part.kind == Kind::Pull {
                linalg::scale(next, T::of(links.own_pull));
            }
            let mut total = links.own_pull;
            for message in pulled().filter(|message| message.header.mask.has(part.index)) {
                let weight = match source(message) {
                    Ok(place) => links.sources[place].1,
                    Err(_) if sources_only => continue,
                    Err(_) => stranger,
                };
                let scalars = message.segment::<T>(&self.manifest, part.row.clone());
                if part.kind == Kind::Pull {
                    next.iter_mut().zip(scalars).for_each(|(next, scalar)| *next = next.plus(T::of(weight), scalar));
                    total += weight;
                } else {
                    let other: Vec<T> = scalars.collect();
                    if larger(&*next, &other) {
                        next.copy_from_slice(&other);
                    }
                }
            }
            if part.kind == Kind::Pull {
                linalg::scale(next, T::of(1.0 / total));
            }
        }
    }

    fn take_mass(&mut self, fresh: &[Unread]) -> Result<(), Overflow> {
        let enough = self.ledger.mass().is_empty() && fresh.iter().any(|message| message.header.contents.pulled);
        let (mut fed, mut outcome) = (enough || self.neighbours.at(self.round).sources.is_empty(), Ok(()));
        for message in fresh.iter().filter(|message| message.header.contents.mass) {
            let places = self.manifest.pushed(message.header.mask);
            match self.ledger.receive(message.header.from, places, message.mass()) {
                Ok(more) => fed |= more,
                Err(overflow) => outcome = Err(overflow),
            }
        }
        self.starved = if fed { 0 } else { self.starved + 1 };
        outcome
    }

    fn hands_out_checkpoint(&self, round: u64) -> bool {
        let every = self.task.policy.checkpoint_every;
        every > 0 && round.is_multiple_of(every)
    }

    /// How far mixing has moved what is pulled, in the Euclidean norm.
    fn moved_by_mixing(&self) -> f64 {
        let pulled = self.manifest.layout().parts.iter().filter(|part| part.kind == Kind::Pull);
        let moved = pulled.flat_map(|part| self.next[part.row.clone()].iter().zip(&self.row[part.row.clone()]));
        moved.map(|(next, now)| (next.f64() - now.f64()).powi(2)).sum::<f64>().sqrt()
    }

    /// Where it is, to start again from there.
    pub fn checkpoint(&self) -> Record {
        let point = self.point();
        let mut bytes = Vec::with_capacity(point.len() * T::BYTES);
        T::write_all(&point, &mut bytes);
        Record::Checkpoint { round: self.round, point: bytes }
    }
}
