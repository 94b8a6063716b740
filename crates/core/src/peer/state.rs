//! The machine: what a peer does when something happens.

use std::collections::VecDeque;
use std::sync::Arc;

use super::contact::Contact;
use super::ledger::Ledger;
use super::mass::Unit;
use super::membership::{Incarnation, Standing, Table};
use super::message::{Contents, Manifest};
use super::neighbours::{Neighbours, Schedule};
use super::news::News;
use super::policy::{Pace, Policy};
use crate::{Algorithm, Mask, Problem, Scalar, Weights, Work};

/// What a peer is to do, and with whom.
#[derive(Clone)]
pub struct Task<T: Scalar> {
    /// By which method.
    pub algorithm: Arc<dyn Algorithm<T>>,
    /// What is solved.
    pub problem: Arc<dyn Problem<T>>,
    /// The seed of the run.
    pub seed: u64,
    /// Which agent of the problem this is, and its name among the peers.
    pub node: u32,
    /// The number of the run: messages of others are refused.
    pub run: u64,
    /// In which units mass is booked.
    pub unit: Unit,
    /// Who hears whom.
    pub schedule: Schedule,
    /// And how much.
    pub weights: Arc<dyn Weights>,
    /// How long to wait for what.
    pub policy: Policy,
}

/// Something has happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// These bytes have arrived.
    Message(Vec<u8>),
    /// Time has passed: these come at a steady pace.
    Tick,
    /// A record was written and will survive a crash, or it could not be written. Nobody waits for checkpoints.
    Stored {
        /// The number that came with it.
        ticket: u64,
        /// Whether it is safe.
        safe: bool,
    },
    /// Somebody outside believes that a node is gone; if it is not, it will come back.
    Suspect(u32),
    /// What an operator wants.
    Command(Command),
}

/// What an operator can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Leave for good.
    Leave,
    /// Start a new epoch at the current points.
    Restart,
    /// Take back what went over the edge to a node: it is no longer a contact.
    Close(u32),
    /// Begin with the first round; for peers that are held.
    Begin,
}

/// Something is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send these bytes.
    Send {
        /// To this node.
        to: u32,
        /// As they are.
        bytes: Vec<u8>,
    },
    /// Write this down, and say when that is done.
    Store {
        /// By this number.
        ticket: u64,
        /// What is to be written.
        record: Record,
    },
}

/// What is to be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Nothing is sent before this is safe. The next start takes a greater one.
    Incarnation(Incarnation),
    /// Everything: what is sent next depends on it, and waits for it. [`Peer::resume`] goes on there.
    State(Vec<u8>),
    /// Where to start again, after this round; nobody waits for it.
    Checkpoint {
        /// Rounds that are done.
        round: u64,
        /// The point, scalar by scalar.
        point: Vec<u8>,
    },
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that were none of this run.
    pub malformed: u64,
    /// Parts of messages that came too late: of an old life, epoch or generation.
    pub stale: u64,
    /// Messages of which a newer one was known.
    pub outdated: u64,
    /// Messages of which something was used.
    pub applied: u64,
    /// Nodes whose edges were undone.
    pub reversals: u64,
    /// Times that this peer was thought dead and came back.
    pub refutations: u64,
    /// Times that this peer had forgotten what others know of it, and began a new life: its disk loses what it calls safe.
    pub forgotten: u64,
    /// Members that were given up because they were silent.
    pub evictions: u64,
    /// Edges that were closed because nothing came through.
    pub closes: u64,
    /// Epochs that were begun.
    pub epochs: u64,
    /// Steps that were not taken because their result was not finite or too large.
    pub bad_steps: u64,
    /// Rounds done in this life.
    pub rounds: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Messages sent.
    pub messages: u64,
}

/// Where a peer is in its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its life is not written down yet.
    Unwritten,
    /// The first round waits for others: all of them in lockstep, or as many as a driver wants.
    Gathering,
    /// Its messages are sent, those of others are awaited.
    Open,
    /// It has gone.
    Left,
}

/// One agent among unreliable links.
pub struct Peer<T: Scalar> {
    pub(super) task: Task<T>,
    pub(super) manifest: Manifest,
    pub(super) incarnation: Incarnation,
    pub(super) epoch: u64,
    pub(super) round: u64,
    pub(super) sequence: u64,
    /// Ticks in this life: our signs of life, and our measure of time.
    pub(super) tick: u64,
    /// Ticks in this phase or round.
    pub(super) waited: u64,
    pub(super) phase: Phase,
    pub(super) gathered: bool,
    /// The epoch in which the messages of this round were sent.
    pub(super) opened_in: u64,
    /// Rounds in a row that brought nothing, although they should have: who goes on giving shares ends up with nothing, and a push-sum step moves its point by its length over that.
    pub(super) starved: u64,
    /// How far mixing moved what is pulled, in the last round after which there was a checkpoint.
    pub(super) disagreement: f64,
    /// An epoch that others have begun in a round that we have not reached.
    pub(super) coming: Option<(u64, u64)>,
    pub(super) table: Table,
    pub(super) news: News,
    pub(super) digest: u64,
    /// The round until which the table travels with every message.
    pub(super) attach_until: u64,
    pub(super) neighbours: Neighbours,
    pub(super) contacts: Vec<Contact>,
    pub(super) ledger: Ledger,
    pub(super) row: Vec<T>,
    pub(super) next: Vec<T>,
    pub(super) keep: Vec<T>,
    pub(super) input: Vec<T>,
    /// Room for next, keep and input before a step that may have to be undone, and for the mass before anybody gets a share.
    pub(super) undo: (Vec<T>, Vec<T>, Vec<T>),
    pub(super) before: Vec<i64>,
    pub(super) work: Work<T>,
    pub(super) counters: Counters,
    /// Messages that wait for the states that they depend on, in the order of these; and those that may go.
    pub(super) awaited: VecDeque<(u64, Vec<Effect>)>,
    pub(super) released: Vec<Effect>,
    /// The last record that was handed out, and the one of this life.
    pub(super) ticket: u64,
    pub(super) life_ticket: u64,
    /// Where the next heartbeats go on.
    pub(super) cursor: usize,
}

impl<T: Scalar> Peer<T> {
    /// A peer at the beginning of a life, which must never have been used before: at this point, or at the problem's start.
    pub fn new(task: Task<T>, incarnation: Incarnation, round: u64, point: Option<&[T]>) -> Self {
        let nodes = task.problem.agents();
        let own = task.problem.private(task.node as usize);
        let segments = task.algorithm.segments(own);
        let manifest = Manifest::new(task.run, nodes, &task.algorithm.segments(0));
        let pushed = manifest.layout().pushed;
        let mut table = Table::new(nodes);
        table.merge(task.node, Standing { incarnation, dead: false });
        let mut peer = Self {
            neighbours: Neighbours::new(task.schedule.clone(), task.weights.clone(), task.node),
            contacts: vec![Contact::default(); nodes],
            ledger: Ledger::default(),
            row: vec![T::zero(); segments.width()],
            next: vec![T::zero(); segments.width()],
            undo: Default::default(),
            before: Vec::new(),
            keep: vec![T::zero(); task.algorithm.keep(own)],
            input: vec![T::zero(); pushed],
            work: Work::default(),
            counters: Counters::default(),
            manifest,
            incarnation,
            epoch: 0,
            round,
            sequence: 0,
            tick: 0,
            waited: 0,
            phase: Phase::Unwritten,
            gathered: false,
            opened_in: 0,
            starved: 0,
            disagreement: 0.0,
            coming: None,
            table,
            news: News::default(),
            digest: 0,
            attach_until: 0,
            awaited: VecDeque::new(),
            released: Vec::new(),
            ticket: 0,
            life_ticket: 0,
            cursor: 0,
            task,
        };
        match point.filter(|point| point.len() == peer.point_width()) {
            Some(point) => peer.begin(point),
            None => peer.begin(&peer.starting_point()),
        }
        peer.table_changed();
        peer
    }

    /// Makes nodes known whose lives are known from outside, before anything is sent.
    pub fn meet(&mut self, nodes: impl IntoIterator<Item = (u32, Incarnation)>) {
        for (node, incarnation) in nodes {
            if node != self.task.node {
                self.learn(node, Standing { incarnation, dead: false });
            }
        }
    }

    /// What is to be done first: its life is written down.
    pub fn start(&self) -> Effect {
        Effect::Store { ticket: self.life_ticket, record: Record::Incarnation(self.incarnation) }
    }

    /// Does what an event asks for.
    pub fn handle(&mut self, event: Event, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Left {
            return;
        }
        match event {
            Event::Message(bytes) => self.receive(bytes, effects),
            Event::Tick => self.tick(effects),
            Event::Stored { ticket, safe } => self.stored(ticket, safe, effects),
            Event::Suspect(node) => self.give_up(node),
            Event::Command(Command::Restart) => self.bump_epoch(),
            Event::Command(Command::Close(node)) => self.close(node),
            Event::Command(Command::Leave) => self.leave(effects),
            Event::Command(Command::Begin) => self.gathered = true,
        }
        self.advance(effects);
        if self.task.policy.exact && self.phase != Phase::Left {
            self.write_ahead(effects);
        }
    }

    fn stored(&mut self, ticket: u64, safe: bool, effects: &mut Vec<Effect>) {
        if ticket == self.life_ticket {
            if safe && self.phase == Phase::Unwritten {
                self.written(effects);
            }
        } else if safe {
            // Newer states hold what older ones do.
            let safe = self.awaited.partition_point(|(awaited, _)| *awaited <= ticket);
            self.released.extend(self.awaited.drain(..safe).flat_map(|(_, held)| held));
        }
    }

    /// Holds messages back until what they depend on is safe, and lets those go for which it is.
    fn write_ahead(&mut self, effects: &mut Vec<Effect>) {
        let held: Vec<_> = effects.extract_if(.., |effect| matches!(effect, Effect::Send { .. })).collect();
        effects.append(&mut self.released);
        if !held.is_empty() {
            let (ticket, record) = (self.next_ticket(), Record::State(self.save()));
            self.awaited.push_back((ticket, held));
            effects.push(Effect::Store { ticket, record });
        }
    }

    pub(super) fn next_ticket(&mut self) -> u64 {
        self.ticket += 1;
        self.ticket
    }

    fn written(&mut self, effects: &mut Vec<Effect>) {
        if self.gathered || (self.task.policy.pace == Pace::Free && !self.task.policy.held) {
            self.open(effects);
        } else {
            self.phase = Phase::Gathering;
            self.waited = 0;
            self.call(effects);
        }
    }

    fn tick(&mut self, effects: &mut Vec<Effect>) {
        self.tick += 1;
        self.waited += 1;
        self.judge_silence();
        self.judge_edges();
        match (self.phase, self.task.policy.pace) {
            (Phase::Unwritten, _) => effects.push(self.start()),
            (Phase::Gathering, _) if self.task.policy.held && !self.is_time_to_call() => {}
            (Phase::Gathering, _) => self.call(effects),
            (Phase::Open, Pace::Free) => {
                if self.round < self.task.policy.rounds {
                    self.complete(effects);
                }
                self.open(effects);
            }
            (Phase::Open, Pace::Lockstep { .. }) => self.send_again(effects),
            (Phase::Left, _) => {}
        }
    }

    /// Begins when nobody is waited for any more; goes on, in lockstep, as long as nothing is missing
    /// or no longer waited for.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Gathering {
            if !self.has_gathered() {
                return;
            }
            self.gathered = true;
            self.open(effects);
        }
        let Pace::Lockstep { deadline } = self.task.policy.pace else { return };
        while self.phase == Phase::Open && self.round < self.task.policy.rounds {
            if let Some((_, epoch)) = self.coming.take_if(|(round, _)| *round <= self.round)
                && epoch > self.epoch
            {
                self.enter(epoch);
            }
            if self.epoch != self.opened_in {
                self.open(effects);
            }
            let exchanging = self.task.algorithm.sends(self.round) != Mask::NONE;
            let (mut awaited, mut missing) = (0, 0);
            for &(source, _) in &self.neighbours.at(self.round).sources {
                let contact = &self.contacts[source as usize];
                if exchanging && self.table.living(source).is_some() && contact.missed < Contact::MISSES {
                    awaited += 1;
                    // Who is in a later round will not come back to this one: its message was of an earlier epoch.
                    missing += usize::from(!contact.has(self.round) && contact.round <= self.round);
                }
            }
            // Alone, time is what goes on.
            if (missing > 0 && self.waited < deadline) || (awaited == 0 && exchanging && self.waited == 0) {
                return;
            }
            self.complete(effects);
            self.open(effects);
        }
    }

    /// Whether the first round can begin.
    fn has_gathered(&mut self) -> bool {
        match self.task.policy.pace {
            _ if self.gathered => true,
            _ if self.task.policy.held => false,
            Pace::Free => true,
            Pace::Lockstep { deadline } => {
                let present = self.neighbours.members().len() == self.manifest.nodes() && self.is_heard();
                present || self.waited >= deadline.saturating_mul(10)
            }
        }
    }

    /// Whether everybody to whom there is a way has heard us: a message to somebody who is not ready yet would be lost.
    fn is_heard(&mut self) -> bool {
        let links = self.neighbours.at(self.round);
        let mut others = (0..).zip(&self.contacts).filter(|(node, _)| *node != self.task.node && links.reach(*node));
        others.all(|(_, contact)| contact.acknowledged > 0)
    }

    /// Calls everybody together before the first round of lockstep.
    fn call(&mut self, effects: &mut Vec<Effect>) {
        for node in 0..self.manifest.nodes() as u32 {
            if node != self.task.node {
                self.send(node, Mask::NONE, Contents::default(), true, effects);
            }
        }
    }

    /// A held peer can wait for long, and whoever comes later calls it: it calls often at first, then
    /// now and then, in case a message was lost.
    fn is_time_to_call(&self) -> bool {
        const EVERY: u64 = 16;
        self.waited.is_power_of_two() || self.waited.is_multiple_of(EVERY)
    }

    fn leave(&mut self, effects: &mut Vec<Effect>) {
        if self.phase != Phase::Unwritten {
            self.table.merge(self.task.node, Standing { incarnation: self.incarnation, dead: true });
            self.call(effects);
        }
        self.phase = Phase::Left;
    }
}
