//! The loop of a node: events in, effects out.

mod ending;
mod lookout;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use fabnet_core::peer::{Effect, Envelope, Event, Record};
use fabnet_core::{Peer, Scalar};

use crate::admission::{Admission, NotAdmitted};
use crate::attendance::{Attendance, Gate, Missing};
use crate::config::{Config, Manifest};
use crate::disk::{Disk, DiskError};
use crate::doubles::Doubles;
use crate::inbox::{Inbox, Input};
use crate::metrics::RoundTimes;
use crate::refusals::Reason;
use crate::silence::Silence;
use crate::status::Shared;
use crate::transport::Transport;

/// Takes what an agent has after every so many rounds.
pub trait Recorder<T: Scalar> {
    /// After a round, with the point then, scalar by scalar.
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]);

    /// Tries again what could not be written, and makes sure that what was written is safe.
    fn secure(&mut self);

    /// At the end: whether every record is safe, else what is missing.
    fn finish(&mut self) -> Result<(), String>;
}

/// Why a node has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its rounds are done, and others had time to do theirs.
    Done,
    /// It was told to leave.
    Left,
}

/// Why a node cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The others do not let it in.
    #[error(transparent)]
    NotAdmitted(#[from] NotAdmitted),
    /// Others were missing.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Its disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Its records.
    #[error("{0}")]
    Records(String),
}

/// Some agents of a run, in one process.
pub struct Node<T: Scalar> {
    config: Config,
    manifest: Manifest,
    seats: BTreeMap<u32, Seat<T>>,
    transport: Arc<dyn Transport>,
    inbox: Arc<Inbox>,
    inputs: Receiver<Input>,
    admission: Admission,
    attendance: Attendance,
    doubles: Doubles,
    silence: Silence,
    renewals: u64,
    greet: Box<dyn Fn()>,
    events: VecDeque<(u32, Event)>,
    effects: Vec<Effect>,
    status: Shared,
    times: RoundTimes,
    dropped: Arc<AtomicU64>,
    tick: Duration,
    started: Instant,
    reported: Instant,
}

struct Seat<T: Scalar> {
    peer: Peer<T>,
    disk: Disk,
    rounds: u64,
    max_residual: u64,
    checkpoint_at: Option<Instant>,
    round_at: Instant,
    /// The last round that it did itself, in this life or before its checkpoint; it may have skipped
    /// others.
    worked_in: u64,
    recorded: Option<u64>,
}

/// What a node works with.
pub struct Equipment {
    /// Its way to the others.
    pub transport: Arc<dyn Transport>,
    /// Where what arrives is put, and where it comes out.
    pub inbox: (Arc<Inbox>, Receiver<Input>),
    /// Says which manifest this node has.
    pub greet: Box<dyn Fn()>,
    /// Where its status is.
    pub status: Shared,
    /// How long rounds take.
    pub times: RoundTimes,
    /// Messages that were lost on purpose.
    pub dropped: Arc<AtomicU64>,
    /// The time between two ticks.
    pub tick: Duration,
    /// What the first round waits for.
    pub gate: Gate,
}

impl<T: Scalar> Node<T> {
    /// A node with these peers, each with its disk and the rounds that it is to do.
    pub fn new(
        config: Config,
        manifest: Manifest,
        peers: impl IntoIterator<Item = (Peer<T>, Disk, u64)>,
        equipment: Equipment,
    ) -> Self {
        let now = Instant::now();
        let seat = |(peer, disk, rounds): (Peer<T>, Disk, u64)| {
            let (max_residual, worked_in) = (0, peer.round());
            let seat = Seat {
                peer,
                disk,
                rounds,
                max_residual,
                checkpoint_at: None,
                round_at: now,
                worked_in,
                recorded: None,
            };
            (seat.peer.node(), seat)
        };
        let contacts = config.contacts().map(|(name, address)| (name.to_owned(), address.to_owned()));
        let Equipment { transport, inbox: (inbox, inputs), greet, status, times, dropped, tick, gate } = equipment;
        let mut node = Self {
            admission: Admission::new(contacts),
            attendance: Attendance::new(&config, gate, now),
            doubles: Doubles::new(tick, now),
            silence: Silence::new(now),
            renewals: 0,
            seats: peers.into_iter().map(seat).collect(),
            manifest,
            transport,
            inbox,
            inputs,
            greet,
            events: VecDeque::new(),
            effects: Vec::new(),
            status,
            times,
            dropped,
            tick,
            started: now,
            reported: now,
            config,
        };
        node.report();
        node
    }

    /// Goes on until it is done or told to stop; `goes_on` is asked once a tick.
    pub fn run(
        &mut self,
        recorder: &mut dyn Recorder<T>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Stop, NodeError> {
        let agents: Vec<u32> = self.seats.keys().copied().collect();
        for agent in agents.iter().copied() {
            let first = self.seats[&agent].peer.start();
            self.carry_out(agent, first, recorder);
        }
        let mut next_tick = Instant::now() + self.tick;
        let mut done_at: Option<Instant> = None;
        loop {
            self.settle(recorder);
            let now = Instant::now();
            if now >= next_tick {
                self.events.extend(agents.iter().map(|&agent| (agent, Event::Tick)));
                // Ticks that were slept through are not made up for.
                next_tick = (next_tick + self.tick).max(now);
                if let Err(error) = self.look_around(recorder) {
                    return Err(self.give_up(error, recorder));
                }
                if !goes_on() {
                    return self.end(recorder);
                }
                if self.is_done() {
                    if done_at.is_none() {
                        self.record_end(recorder);
                    }
                    if done_at.get_or_insert(now).elapsed() > self.config.linger {
                        return self.end(recorder);
                    }
                }
                continue;
            }
            match self.inputs.recv_timeout(next_tick - now) {
                Ok(Input::Message { from, to, bytes }) => self.arrived(from, to, bytes),
                Ok(Input::Hello { node, manifest }) => self.greeted(node, manifest)?,
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return self.end(recorder),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn arrived(&mut self, from: u32, to: u32, bytes: Vec<u8>) {
        self.inbox.done(from);
        match Envelope::read(&bytes) {
            Some(envelope) if (envelope.from, envelope.to) != (from, to) => self.inbox.refusals().count(Reason::Forged),
            Some(envelope) if envelope.run != self.manifest.number() => self.inbox.refusals().count(Reason::Manifest),
            _ => {
                self.silence.heard(from);
                self.events.push_back((to, Event::Message(bytes)));
            }
        }
    }

    fn greeted(&mut self, node: String, manifest: String) -> Result<(), NodeError> {
        if node == self.config.node {
            return Ok(());
        }
        if manifest == self.manifest.to_string() {
            return Ok(());
        }
        self.inbox.refusals().count(Reason::Manifest);
        tracing::warn!(node, manifest, "a node of this run has another manifest");
        if self.admission.admitted() {
            // It is the odd one out, and is to know.
            (self.greet)();
            return Ok(());
        }
        Err(NotAdmitted::Manifest { node, theirs: manifest, ours: self.manifest.to_string() }.into())
    }

    /// Its agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.seats.values().map(|seat| &seat.peer)
    }

    /// Whether all rounds are done.
    fn is_done(&self) -> bool {
        self.seats.values().all(|seat| seat.peer.round() >= seat.rounds)
    }

    /// Lets happen what is to happen, until nothing is left.
    fn settle(&mut self, recorder: &mut dyn Recorder<T>) {
        while let Some((agent, event)) = self.events.pop_front() {
            self.tell(agent, event, recorder);
        }
    }

    fn tell(&mut self, agent: u32, event: Event, recorder: &mut dyn Recorder<T>) {
        let Some(seat) = self.seats.get_mut(&agent) else { return };
        let (before, worked) = (seat.peer.round(), seat.peer.counters().rounds);
        let mut effects = std::mem::take(&mut self.effects);
        seat.peer.handle(event, &mut effects);
        let done = seat.peer.round().saturating_sub(before);
        if seat.peer.counters().rounds > worked {
            seat.worked_in = seat.peer.round();
        }
        if done > 0 {
            self.times.observe(seat.round_at.elapsed().as_secs_f64() / done as f64, done);
            seat.round_at = Instant::now();
        }
        for effect in effects.drain(..) {
            self.carry_out(agent, effect, recorder);
        }
        self.effects = effects;
    }

    fn carry_out(&mut self, agent: u32, effect: Effect, recorder: &mut dyn Recorder<T>) {
        match effect {
            Effect::Send { to, bytes } if self.seats.contains_key(&to) => {
                self.events.push_back((to, Event::Message(bytes)));
            }
            Effect::Send { to, bytes } => self.transport.send(agent, to, bytes),
            Effect::Store { ticket, record } => {
                let Some(seat) = self.seats.get_mut(&agent) else { return };
                if let Record::Checkpoint { round, point } = &record {
                    recorder.record(&seat.peer, *round, point);
                    seat.recorded = Some(*round);
                    if seat.checkpoint_at.is_some_and(|at| at.elapsed() < self.config.checkpoint) {
                        return;
                    }
                    seat.checkpoint_at = Some(Instant::now());
                    recorder.secure();
                }
                let safe = seat.disk.write(&record).inspect_err(|error| tracing::error!(agent, %error, "not written"));
                self.events.push_back((agent, Event::Stored { ticket, safe: safe.is_ok() }));
            }
        }
    }
}
