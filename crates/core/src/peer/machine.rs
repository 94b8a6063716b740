//! The state machine of a peer: what it does when something happens.

use std::sync::Arc;

use super::clock::{Phase, RoundClock};
use super::config::PeerConfig;
use super::counters::Counters;
use super::event::{Command, Effect, Event, Record};
use super::exchange::Exchange;
use super::ledger::{Ledger, Starvation};
use super::local::LocalState;
use super::membership::{Incarnation, Membership, SealBook, SealScheme, Table, Unsealed};
use super::neighbours::Neighbours;
use super::notice::{EpochCause, Notices};
use super::outgoing::Outgoing;
use super::policy::SyncMode;
use super::wire::{Contents, WireFormat};
use super::write_ahead::WriteAhead;
use crate::{Mask, Scalar};

/// One agent among unreliable links.
///
/// Tell it with [`Peer::handle`] what has happened, and do what the effects ask for. The effects of
/// [`Peer::start`] come first.
pub struct Peer<T: Scalar> {
    pub(super) config: PeerConfig<T>,
    pub(super) format: WireFormat,
    pub(super) clock: RoundClock,
    pub(super) membership: Membership,
    pub(super) neighbours: Neighbours,
    pub(super) exchange: Exchange,
    pub(super) ledger: Ledger,
    pub(super) starvation: Starvation,
    pub(super) local: LocalState<T>,
    pub(super) write_ahead: WriteAhead,
    pub(super) counters: Counters,
    pub(super) notices: Notices,
}

impl<T: Scalar> Peer<T> {
    /// A peer at the beginning of a life, whose incarnation must never have been used before. It
    /// starts at this point, or where the problem says if there is none or it has another width.
    pub fn new(config: PeerConfig<T>, incarnation: Incarnation, round: u64, point: Option<&[T]>) -> Self {
        Self::sealed(config, Arc::new(Unsealed), incarnation, round, point)
    }

    /// The same with a scheme by which nodes seal what they say in their own names: a peer then
    /// believes a life of another node only if that node has sealed it.
    pub fn sealed(
        config: PeerConfig<T>,
        scheme: Arc<dyn SealScheme>,
        incarnation: Incarnation,
        round: u64,
        point: Option<&[T]>,
    ) -> Self {
        let (nodes, seals) = (config.problem.agents(), SealBook::new(scheme, config.run));
        let format = WireFormat::new(config.run, nodes, &config.algorithm.segments(0), config.word_length());
        let format = format.with_seals(seals.length());
        let patience = (config.policy.evict_after, config.policy.attach_for);
        let mut peer = Self {
            clock: RoundClock::new(round),
            membership: Membership::new(config.node, nodes, incarnation, patience, seals),
            neighbours: Neighbours::new(config.schedule.clone(), config.weights.clone(), config.node),
            exchange: Exchange::new(nodes),
            ledger: Ledger::default(),
            starvation: Starvation::default(),
            local: LocalState::new(&config, format.layout().clone()),
            write_ahead: WriteAhead::default(),
            counters: Counters::default(),
            notices: Notices::default(),
            format,
            config,
        };
        match point.filter(|point| point.len() == peer.local.point_width()) {
            Some(point) => peer.begin(point),
            None => peer.begin(&peer.local.starting_point()),
        }
        peer.membership.attach_table(round);
        peer
    }

    /// Makes nodes known that are known from outside, before anything is sent.
    pub fn meet(&mut self, roster: &Table) {
        self.membership.meet(roster, self.clock.round());
        self.neighbours.set_members(self.membership.members());
    }

    /// The first effect of a life: its incarnation must be written to disk.
    pub fn start(&self) -> Effect {
        let record = Record::Incarnation(self.membership.incarnation());
        Effect::Store { ticket: self.write_ahead.life_ticket(), record }
    }

    /// Takes in what has happened, and appends what the driver must do.
    pub fn handle(&mut self, event: Event, effects: &mut Vec<Effect>) {
        if self.clock.phase() == Phase::Left {
            return;
        }
        match event {
            Event::Message(bytes) => self.receive(bytes, effects),
            Event::Tick => self.tick(effects),
            Event::Stored { ticket, safe } => self.stored(ticket, safe, effects),
            Event::Suspect(node) => self.evict(node),
            Event::Command(Command::Restart) => self.begin_epoch(EpochCause::Operator),
            Event::Command(Command::Close(node)) => self.close(node),
            Event::Command(Command::Leave) => self.leave(effects),
            Event::Command(Command::Begin) => self.clock.allow_rounds(),
            Event::Command(Command::Expel(node)) => self.expel(node),
            Event::Command(Command::Readmit(node)) => self.membership.readmit(node),
        }
        self.advance(effects);
        // Who leaves says farewell at once: there is no state to go on with.
        if self.config.policy.exact && self.clock.phase() != Phase::Left {
            self.write_ahead(effects);
        }
    }

    fn stored(&mut self, ticket: u64, safe: bool, effects: &mut Vec<Effect>) {
        if ticket == self.write_ahead.life_ticket() {
            if safe && self.clock.phase() == Phase::Unwritten {
                self.begin_rounds(effects);
            }
        } else if safe {
            self.write_ahead.stored(ticket);
        }
    }

    /// Holds messages back until the state they depend on is safe, and lets those go for which it
    /// is.
    fn write_ahead(&mut self, effects: &mut Vec<Effect>) {
        if let Some(ticket) = self.write_ahead.hold_back(effects) {
            effects.push(Effect::Store { ticket, record: Record::State(self.save()) });
        }
    }

    /// Opens the first round of a life, or waits with it for the others.
    fn begin_rounds(&mut self, effects: &mut Vec<Effect>) {
        let policy = &self.config.policy;
        if self.clock.has_gathered() || (policy.sync == SyncMode::Free && !policy.held) {
            self.open(effects);
        } else {
            self.clock.gather();
            self.call(effects);
        }
    }

    fn tick(&mut self, effects: &mut Vec<Effect>) {
        self.clock.tick();
        self.evict_silent();
        self.close_unanswered();
        match (self.clock.phase(), self.config.policy.sync) {
            (Phase::Unwritten, _) => effects.push(self.start()),
            (Phase::Gathering, _) if self.config.policy.held && !self.clock.is_time_to_call() => {}
            (Phase::Gathering, _) => self.call(effects),
            (Phase::Open, SyncMode::Free) => {
                if self.clock.round() < self.config.policy.rounds {
                    self.complete(effects);
                }
                self.open(effects);
            }
            // Not before a full tick has passed: what was just sent is still on its way.
            (Phase::Open, SyncMode::Lockstep { .. }) if self.clock.waited() > 1 => self.send_again(effects),
            (Phase::Open, SyncMode::Lockstep { .. }) | (Phase::Left, _) => {}
        }
    }

    /// Begins when nobody is waited for any more. In lockstep, goes on as long as no message is
    /// missing, or the deadline of the round has passed.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        if self.clock.phase() == Phase::Gathering {
            if !self.may_begin() {
                return;
            }
            self.clock.allow_rounds();
            self.open(effects);
        }
        let SyncMode::Lockstep { deadline } = self.config.policy.sync else { return };
        while self.clock.phase() == Phase::Open && self.clock.round() < self.config.policy.rounds {
            if let Some(epoch) = self.clock.take_due_epoch() {
                self.enter(epoch, EpochCause::Heard);
            }
            if self.clock.must_reopen() {
                self.open(effects);
            }
            if self.is_waiting(deadline) {
                return;
            }
            self.complete(effects);
            self.open(effects);
        }
    }

    /// Whether a round in lockstep waits for messages.
    fn is_waiting(&mut self, deadline: u64) -> bool {
        let (round, waited) = (self.clock.round(), self.clock.waited());
        let exchanging = self.config.algorithm.sends(round) != Mask::NONE;
        let table = self.membership.table();
        let sources = self.neighbours.at(round).sources.iter().map(|(source, _)| *source);
        let living = sources.filter(|&source| exchanging && table.living(source).is_some());
        let awaited = self.exchange.awaited(living, round);
        // A peer that waits for nobody does one round in each tick: otherwise `advance` would not
        // end.
        (awaited.missing > 0 && waited < deadline) || (awaited.sources == 0 && exchanging && waited == 0)
    }

    /// Whether the first round can begin. In lockstep the others must have heard this peer: its
    /// first messages may be lost otherwise, and take part in other rounds than they belong to.
    /// After a while it begins nevertheless.
    fn may_begin(&mut self) -> bool {
        let (held, gathered) = (self.config.policy.held, self.clock.has_gathered());
        let SyncMode::Lockstep { deadline } = self.config.policy.sync else { return gathered || !held };
        let is_late = self.clock.waited() >= deadline.saturating_mul(10);
        if held {
            return gathered && (is_late || self.is_heard());
        }
        let everybody_is_there = self.membership.members().len() == self.format.nodes();
        gathered || is_late || (everybody_is_there && self.is_heard())
    }

    /// Whether all members that this peer reaches have heard it.
    fn is_heard(&mut self) -> bool {
        let links = self.neighbours.at(self.clock.round());
        let members = self.membership.members().iter().copied();
        self.exchange.is_heard_by(members.filter(|&node| node != self.config.node && links.reaches(node)))
    }

    /// Calls all nodes together: a message that says nothing but who this peer is and whom it
    /// knows.
    fn call(&mut self, effects: &mut Vec<Effect>) {
        for node in 0..self.format.nodes() as u32 {
            if node != self.config.node {
                self.send(Outgoing::gossip(node, Contents::default(), true), effects);
            }
        }
    }

    fn leave(&mut self, effects: &mut Vec<Effect>) {
        if self.clock.phase() != Phase::Unwritten {
            self.membership.leave();
            self.call(effects);
        }
        self.clock.leave();
    }
}
