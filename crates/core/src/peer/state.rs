//! The machine: what a peer does when something happens.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::contact::{Contact, Unread};
use super::ledger::{Ledger, Reversal};
use super::mass::Unit;
use super::membership::{Incarnation, Standing, Table};
use super::message::{Ack, BEATS, Beat, Close, Contents, Draft, Header, Manifest, Manner, Message};
use super::neighbours::{Neighbours, Schedule};
use super::news::News;
use super::policy::{Pace, Policy};
use crate::rng::{Purpose, Stream};
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
    /// Lockstep begins with everybody present.
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
    coming: Option<(u64, u64)>,
    pub(super) table: Table,
    pub(super) news: News,
    digest: u64,
    /// The round until which the table travels with every message.
    attach_until: u64,
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
    awaited: VecDeque<(u64, Vec<Effect>)>,
    released: Vec<Effect>,
    /// The last record that was handed out, and the one of this life.
    ticket: u64,
    life_ticket: u64,
    /// Where the next heartbeats go on.
    cursor: usize,
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
        }
        self.advance(effects);
        if self.task.policy.exact && self.phase != Phase::Left {
            self.write_ahead(effects);
        }
    }

    /// Which node this is.
    pub fn node(&self) -> u32 {
        self.task.node
    }

    /// Its life.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Its epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Rounds that are done.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Its books.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whom it knows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How often it has closed its edge to a node.
    pub fn generation(&self, to: u32) -> u64 {
        self.contacts[to as usize].generation
    }

    /// How often a node has closed its edge to this one, as far as is known.
    pub fn its_generation(&self, from: u32) -> u64 {
        self.contacts[from as usize].its_generation
    }

    /// Messages that wait for the end of the round.
    pub fn unread(&self) -> usize {
        self.contacts.iter().map(|contact| contact.unread.len()).sum()
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Its row, as it is sent next.
    pub fn row(&self) -> &[T] {
        &self.row
    }

    /// What stays with it.
    pub fn keep(&self) -> &[T] {
        &self.keep
    }

    /// What it puts into pushed segments.
    pub fn input(&self) -> &[T] {
        &self.input
    }

    /// Bytes of its state: rows, what stays, inputs, and its books.
    pub fn state_bytes(&self) -> usize {
        (2 * self.row.len() + self.keep.len() + self.input.len()) * T::BYTES + self.ledger.bytes()
    }

    /// One number for its round, its row and what stays with it, to the last bit.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes = self.round.to_le_bytes().to_vec();
        self.row.iter().chain(&self.keep).for_each(|scalar| scalar.write(&mut bytes));
        XxHash3_64::oneshot(&bytes)
    }

    /// How far neighbours were away when there was last a checkpoint: mixing moved what is pulled so far, in the Euclidean norm.
    pub fn disagreement(&self) -> f64 {
        self.disagreement
    }

    /// Whom it is to hear in this round.
    pub fn sources(&mut self) -> impl Iterator<Item = u32> {
        self.neighbours.at(self.round).sources.iter().map(|(source, _)| *source)
    }

    /// Rounds since the source that is silent for longest was heard.
    pub fn pull_age(&mut self) -> u64 {
        let round = self.round;
        let sources = &self.neighbours.at(round).sources;
        let ages = sources.iter().map(|(source, _)| round.saturating_sub(self.contacts[*source as usize].applied_in));
        ages.max().unwrap_or(0)
    }

    /// What went over edges that do not answer, by receiver, in the Euclidean norm.
    pub fn parked(&self) -> impl Iterator<Item = (u32, f64)> {
        let silent =
            |node: &u32| self.contacts[*node as usize].unanswered(self.tick) > self.task.policy.unreachable_after;
        self.ledger.targets().filter(silent).map(|node| {
            let sums = self.ledger.sent(node).unwrap_or_default();
            (node, sums.iter().map(|&units| self.task.unit.scalar::<f64>(units).powi(2)).sum::<f64>().sqrt())
        })
    }

    /// The oracle's counters.
    pub fn work(&self) -> &Work<T> {
        &self.work
    }

    /// The problem and the method.
    pub fn task(&self) -> &Task<T> {
        &self.task
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
        if self.gathered || self.task.policy.pace == Pace::Free {
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

    /// Goes on, in lockstep, as long as nothing is missing or no longer waited for.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        let Pace::Lockstep { deadline } = self.task.policy.pace else { return };
        if self.phase == Phase::Gathering {
            let present = self.neighbours.members().len() == self.manifest.nodes() && self.is_heard();
            if !present && self.waited < deadline.saturating_mul(10) {
                return;
            }
            self.gathered = true;
            self.open(effects);
        }
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

    fn leave(&mut self, effects: &mut Vec<Effect>) {
        if self.phase != Phase::Unwritten {
            self.table.merge(self.task.node, Standing { incarnation: self.incarnation, dead: true });
            self.call(effects);
        }
        self.phase = Phase::Left;
    }

    /// Counts a node as dead.
    fn give_up(&mut self, node: u32) {
        if node != self.task.node
            && let Some(incarnation) = self.table.living(node)
        {
            self.counters.evictions += 1;
            self.learn(node, Standing { incarnation, dead: true });
        }
    }

    /// Members without a sign of life are given up. Who hears of few is probably the one that is cut off, and waits longer.
    fn judge_silence(&mut self) {
        let (tick, patience) = (self.tick, self.task.policy.evict_after);
        let silent = |contact: &Contact, patience: u64| tick.saturating_sub(contact.alive_at) > patience;
        let members = self.neighbours.members();
        let others = || {
            members.iter().filter(|&&node| node != self.task.node).map(|&node| (node, &self.contacts[node as usize]))
        };
        let heard = others().filter(|(_, contact)| !silent(contact, patience)).count();
        let patience = if 2 * heard < members.len() - 1 { 3 * patience } else { patience };
        let gone: Vec<u32> = others()
            .filter(|(_, contact)| silent(contact, patience << contact.returns.min(6)))
            .map(|(node, _)| node)
            .collect();
        for node in gone {
            self.give_up(node);
        }
    }

    /// Edges through which nothing comes are closed: what they hold is of no use to anybody.
    fn judge_edges(&mut self) {
        let overdue = |node: &u32| self.contacts[*node as usize].unanswered(self.tick) > self.task.policy.close_after;
        let overdue: Vec<u32> = self.ledger.targets().filter(overdue).collect();
        for node in overdue {
            self.counters.closes += 1;
            self.close(node);
        }
    }

    /// Takes back what went over the edge to a node, which is to give it up.
    fn close(&mut self, node: u32) {
        if self.ledger.sent(node).is_none() {
            return;
        }
        let reversal = self.ledger.take_back(node);
        let contact = &mut self.contacts[node as usize];
        contact.generation += 1;
        contact.closed_at = Some(self.sequence);
        let generation = contact.generation;
        self.news.close(Close { from: self.task.node, to: node, life: self.incarnation.tag(), generation });
        self.spread();
        self.bear(reversal);
    }

    /// Takes news of a node in, and what follows from them.
    fn learn(&mut self, node: u32, news: Standing) {
        let known = self.table.get(node);
        if self.table.merge(node, news) != Ordering::Greater {
            return;
        }
        let contact = &mut self.contacts[node as usize];
        if known.is_some_and(|known| known.dead) && !news.dead {
            contact.returns += 1;
        }
        contact.renew(self.tick);
        contact.told_until = self.round + self.task.policy.attach_for;
        if known.is_some_and(|known| known.incarnation != news.incarnation) {
            self.news.forget(node);
        }
        let reversal = self.ledger.reverse(node);
        self.table_changed();
        self.bear(reversal);
    }

    /// What flows through a node on directed edges never cancels, so undoing an edge can change far more than there is: a new epoch is then better than bearing it.
    fn bear(&mut self, reversal: Reversal) {
        let Reversal::Of(size) = reversal else { return };
        self.counters.reversals += 1;
        if size > self.task.policy.large_reversal || !self.task.algorithm.bears_reversals() {
            self.bump_epoch();
        }
    }

    pub(super) fn table_changed(&mut self) {
        self.neighbours.set_members(self.table.members().collect());
        self.spread();
    }

    /// There is news that everybody should have.
    fn spread(&mut self) {
        self.digest = self.news.digest(&self.table);
        self.attach_until = self.round + self.task.policy.attach_for;
    }

    /// Comes back from the dead: a new life, without any edge.
    fn refute(&mut self, rumour: Incarnation) {
        let counter = rumour.counter.max(self.incarnation.counter).saturating_add(1);
        let nonce = Stream::new(self.incarnation.nonce, self.task.node as usize, counter, Purpose::Lives).bits();
        self.incarnation = Incarnation { counter, nonce };
        self.counters.refutations += 1;
        // What the old life had to say is said in vain.
        self.awaited.clear();
        self.released.clear();
        self.life_ticket = self.next_ticket();
        self.news.forget(self.task.node);
        self.contacts.iter_mut().for_each(Contact::forget_ours);
        let input = self.ledger.input().to_vec();
        self.ledger.begin(&input);
        self.refresh_row();
        self.table.merge(self.task.node, Standing { incarnation: self.incarnation, dead: false });
        self.table_changed();
        self.phase = Phase::Unwritten;
        if !self.task.algorithm.bears_reversals() {
            self.bump_epoch();
        }
    }

    /// Begins a new epoch, for everyone who hears of it.
    pub(super) fn bump_epoch(&mut self) {
        self.enter(self.epoch.saturating_add(1));
    }

    fn enter(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.counters.epochs += 1;
        self.contacts.iter_mut().for_each(|contact| contact.unread.retain(|message| message.header.epoch >= epoch));
        self.begin(&self.point());
    }

    fn receive(&mut self, bytes: Vec<u8>, effects: &mut Vec<Effect>) {
        let Ok(message) = self.manifest.read::<T>(&bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let header = message.header;
        if header.to != self.task.node || header.from == self.task.node {
            self.counters.malformed += 1;
            return;
        }
        self.merge_control(&message);
        let known = header.digest == self.digest;
        let fresh = self.is_current(&header);
        let stale = !fresh || (!known && message.standings().next().is_none());
        self.counters.stale += u64::from(stale);
        if fresh {
            let places = message.places();
            self.accept(Unread::new(places, bytes));
        }
        if stale || self.is_call(&header) {
            self.answer(&header, effects);
        } else if header.contents.manner == Manner::Plea && header.epoch == self.epoch && self.phase == Phase::Open {
            self.help(header.from, effects);
        }
    }

    /// Control is taken in always, whatever becomes of the rest: it only grows.
    fn merge_control(&mut self, message: &Message<'_>) {
        let header = &message.header;
        let sender = (header.from, Standing { incarnation: header.incarnation, dead: false });
        for (node, standing) in std::iter::once(sender).chain(message.standings()) {
            if node == self.task.node {
                if standing > (Standing { incarnation: self.incarnation, dead: false }) {
                    self.refute(standing.incarnation);
                }
            } else {
                self.learn(node, standing);
            }
        }
        let life = |table: &Table, node: u32| table.living(node).map(Incarnation::tag);
        for close in message.closes() {
            let ours = close.from == self.task.node && close.life == self.incarnation.tag();
            if ours && self.contacts.get(close.to as usize).is_some_and(|contact| contact.generation < close.generation)
            {
                // We have closed this edge and do not know it: our disk has lost what it called safe.
                self.refute(self.incarnation);
            }
            if life(&self.table, close.from) == Some(close.life)
                && close.from != self.task.node
                && self.news.close(close)
            {
                if close.to == self.task.node {
                    self.closed_by(close.from, close.generation);
                }
                self.spread();
            }
        }
        let own = Beat { node: header.from, life: header.incarnation.tag() as u32, count: header.beat };
        for beat in std::iter::once(own).chain(message.beats()) {
            if life(&self.table, beat.node).map(|tag| tag as u32) == Some(beat.life) && beat.node != self.task.node {
                let contact = &mut self.contacts[beat.node as usize];
                if contact.beat < beat.count {
                    (contact.beat, contact.alive_at) = (beat.count, self.tick);
                }
            }
        }
        for ack in message.acks() {
            if ack.from == self.task.node {
                if ack.life == self.incarnation.tag() {
                    self.acknowledged(ack);
                }
            } else if life(&self.table, ack.from) == Some(ack.life) && (ack.by as usize) < self.contacts.len() {
                self.news.ack(ack);
            }
        }
        if header.epoch > self.epoch && self.phase != Phase::Left {
            if self.task.policy.pace == Pace::Free || header.round <= self.round || self.phase != Phase::Open {
                self.enter(header.epoch);
            } else {
                self.coming = Some(self.coming.map_or((header.round, header.epoch), |(round, epoch)| {
                    if epoch < header.epoch { (header.round, header.epoch) } else { (round.min(header.round), epoch) }
                }));
            }
        }
    }

    fn acknowledged(&mut self, ack: Ack) {
        let Some(contact) = self.contacts.get_mut(ack.by as usize) else { return };
        if contact.acknowledged < ack.sequence {
            (contact.acknowledged, contact.unanswered_since) = (ack.sequence, None);
        }
        if contact.closed_at.is_some_and(|closed| closed < ack.sequence) {
            contact.closed_at = None;
        }
    }

    /// A sender has taken back what it sent in earlier generations.
    fn closed_by(&mut self, from: u32, generation: u64) {
        let contact = &mut self.contacts[from as usize];
        if contact.its_generation < generation {
            contact.its_generation = generation;
            contact.unread.retain(|message| message.header.generation >= generation);
            let reversal = self.ledger.give_up(from);
            self.bear(reversal);
        }
    }

    /// Whether a message is of the sender's present life and of this epoch, or one that is coming.
    fn is_current(&self, header: &Header) -> bool {
        self.table.living(header.from) == Some(header.incarnation) && header.epoch >= self.epoch
    }

    /// Keeps what a current message brings.
    fn accept(&mut self, mut message: Unread) {
        let header = &mut message.header;
        self.news.ack(Ack {
            by: self.task.node,
            from: header.from,
            life: header.incarnation.tag(),
            sequence: header.sequence,
        });
        self.closed_by(header.from, header.generation);
        let contact = &mut self.contacts[header.from as usize];
        contact.missed = 0;
        contact.round = contact.round.max(header.round);
        let mine = header.to_incarnation == self.incarnation && header.generation >= contact.its_generation;
        if header.contents.mass && !mine {
            self.counters.stale += 1;
            header.contents.mass = false;
        }
        if !header.contents.mass && !header.contents.pulled {
            return;
        }
        if header.sequence <= contact.applied {
            self.counters.outdated += 1;
            return;
        }
        let header = *header;
        match self.task.policy.pace {
            Pace::Free => contact.keep_newest(message),
            Pace::Lockstep { .. } => contact.keep_by_round(message),
        }
        // Who has fallen far behind, or is new, goes on where the others are.
        if header.round > self.round + 2 * self.manifest.nodes() as u64 + 16 && header.epoch == self.epoch {
            self.round = header.round.min(self.task.policy.rounds);
            self.attach_until = self.round + self.task.policy.attach_for;
        }
    }

    /// Whether somebody calls us together: it is to know that we can hear it.
    fn is_call(&self, header: &Header) -> bool {
        self.task.policy.pace != Pace::Free && header.contents == Contents::default()
    }

    /// Tells who is behind how things are, at most once a tick.
    fn answer(&mut self, header: &Header, effects: &mut Vec<Effect>) {
        let contact = &mut self.contacts[header.from as usize];
        if header.contents.manner == Manner::Answer
            || contact.answered_at == Some(self.tick)
            || self.phase == Phase::Unwritten
        {
            return;
        }
        contact.answered_at = Some(self.tick);
        self.send(header.from, Mask::NONE, Contents { manner: Manner::Answer, ..Contents::default() }, true, effects);
    }

    /// Writes a message and hands it out.
    pub(super) fn send(&mut self, to: u32, mask: Mask, contents: Contents, table: bool, effects: &mut Vec<Effect>) {
        self.sequence += 1;
        let contact = &mut self.contacts[to as usize];
        contact.untold += 1;
        contact.unanswered_since.get_or_insert(self.tick);
        let table = table || self.round < self.attach_until || contact.untold >= self.task.policy.attach_every;
        if table {
            contact.untold = 0;
        }
        if contents.mass {
            contact.mass_sent = self.sequence;
        }
        let header = Header {
            from: self.task.node,
            to,
            incarnation: self.incarnation,
            to_incarnation: self.table.get(to).unwrap_or_default().incarnation,
            epoch: self.epoch,
            round: self.round,
            sequence: self.sequence,
            generation: contact.generation,
            beat: self.tick,
            digest: self.digest,
            mask,
            contents,
        };
        let standings = if table { self.standings() } else { Vec::new() };
        let closes: Vec<_> = if table { self.news.closes(self.manifest.news()).collect() } else { Vec::new() };
        let acks = self.news.acks_for(self.task.node, to);
        let beats: Vec<_> = self.beats().collect();
        self.cursor = self.cursor.wrapping_add(BEATS);
        let draft = Draft {
            header,
            standings: &standings,
            closes: &closes,
            beats: &beats,
            acks: &acks,
            row: &self.row,
            mass: self.ledger.sent(to).unwrap_or_default(),
        };
        let mut bytes = Vec::new();
        self.manifest.write(&draft, &mut bytes);
        self.counters.messages += 1;
        self.counters.bytes += bytes.len() as u64;
        effects.push(Effect::Send { to, bytes });
    }

    /// The table, or what a message can carry of it: what has changed of late, then others at random, since no turn that is taken is in step with anything.
    fn standings(&self) -> Vec<(u32, Standing)> {
        let changed = |node: u32| self.round < self.contacts[node as usize].told_until;
        let mut standings: Vec<_> = self.table.entries().collect();
        let most = self.manifest.news();
        if standings.len() > most {
            let mut stream = Stream::new(self.task.seed, self.task.node as usize, self.sequence, Purpose::Table);
            let start = stream.below(standings.len());
            standings.rotate_left(start);
            standings.sort_by_key(|(node, _)| !changed(*node));
            standings.truncate(most);
        }
        standings
    }

    /// Signs of life of a few others, in turn.
    fn beats(&self) -> impl Iterator<Item = Beat> {
        let members = self.neighbours.members();
        let start = self.cursor % members.len();
        let turn = members[start..].iter().chain(&members[..start]);
        turn.filter(|&&node| node != self.task.node).take(BEATS).filter_map(|&node| {
            let life = self.table.living(node)?.tag() as u32;
            Some(Beat { node, life, count: self.contacts[node as usize].beat })
        })
    }

    /// The edge that the schedule has left alone for longest: what was lost there would else be stranded. Not one after the other: their turns and those of the schedule could keep
    /// in step.
    pub(super) fn idle_edge(&self, used: &[u32]) -> Option<u32> {
        let idle = self.ledger.targets().filter(|target| !used.contains(target));
        idle.min_by_key(|&target| self.contacts[target as usize].mass_sent)
    }
}
