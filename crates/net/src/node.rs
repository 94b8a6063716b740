//! The loop of a node: events in, effects out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use fabnet_core::peer::{Command, Effect, Envelope, Event, Record};
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
use crate::status::{AgentStatus, NodeStatus, Shared};
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
    /// The time between two reports: they look at everything that there is.
    const REPORT: Duration = Duration::from_millis(500);

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
                self.look_around(recorder)?;
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

    /// Once a tick: is anybody there, and what is there to say?
    fn look_around(&mut self, recorder: &mut dyn Recorder<T>) -> Result<(), NodeError> {
        let reports = self.reported.elapsed() > Self::REPORT;
        if reports || !self.has_begun() {
            self.attendance.look(self.seats.values().map(|seat| &seat.peer));
            if self.attendance.anybody() {
                self.admission.heard();
            }
        }
        self.admission.judge()?;
        self.begin_if_all_are_there()?;
        if reports {
            self.report();
            self.mind_silence();
            self.mind_doubles();
            recorder.secure();
            if !self.admission.admitted() {
                (self.greet)();
            }
        }
        Ok(())
    }

    /// Lets its agents begin once enough members are heard.
    fn begin_if_all_are_there(&mut self) -> Result<(), NodeError> {
        let peers: Vec<&Peer<T>> = self.peers().collect();
        if !self.has_begun() && self.attendance.may_begin(&peers, Instant::now())? {
            tracing::info!("enough members are there: the first round begins");
            self.events.extend(self.seats.keys().map(|&agent| (agent, Event::Command(Command::Begin))));
        }
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.peers().all(Peer::has_begun)
    }

    /// Warns if two processes act as one member.
    fn mind_doubles(&mut self) {
        let lives = self.seats.values().flat_map(|seat| {
            let others = seat.peer.table().entries().map(|(agent, standing)| (agent, standing.incarnation));
            others.filter(|(agent, _)| *agent == seat.peer.node() || !self.seats.contains_key(agent))
        });
        let lives: BTreeMap<u32, _> = lives.collect();
        for agent in self.doubles.look(lives.into_iter(), Instant::now()) {
            let member = self.config.owner(agent);
            tracing::warn!(agent, member, "two processes act as this member: stop one of them");
        }
    }

    /// Has the transport connect anew if somebody is silent who ought to be heard.
    fn mind_silence(&mut self) {
        let now = Instant::now();
        if self.transport.renewals() > self.renewals {
            self.renewals = self.transport.renewals();
            self.silence.begin_again(now);
        }
        let sources: BTreeSet<u32> = self.seats.values_mut().flat_map(|seat| seat.peer.sources()).collect();
        let remote = sources.into_iter().filter(|agent| !self.seats.contains_key(agent));
        let silent = self.silence.look(remote, now);
        if self.admission.admitted() && !self.is_done() && !silent.is_empty() {
            self.transport.renew(silent.iter().map(|&agent| self.config.way_to(agent).to_owned()).collect());
        }
    }

    /// Its agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.seats.values().map(|seat| &seat.peer)
    }

    /// Whether all rounds are done.
    fn is_done(&self) -> bool {
        self.seats.values().all(|seat| seat.peer.round() >= seat.rounds)
    }

    fn report(&mut self) {
        self.reported = Instant::now();
        let agent = |seat: &mut Seat<T>| {
            let status = AgentStatus::of(&mut seat.peer);
            seat.max_residual = seat.max_residual.max(status.mass_residual);
            let checkpoint_age = seat.checkpoint_at.map(|at| at.elapsed().as_secs_f64());
            AgentStatus { max_mass_residual: seat.max_residual, checkpoint_age, ..status }
        };
        let peers: Vec<&Peer<T>> = self.peers().collect();
        let (begun, absent) = (self.has_begun(), self.attendance.absent(&peers));
        let complete = self.is_done() && self.judge_end().is_empty();
        let doubles: BTreeSet<&str> = self.doubles.found().iter().map(|agent| self.config.owner(*agent)).collect();
        let status = NodeStatus {
            run: self.config.run.clone(),
            node: self.config.node.clone(),
            manifest: self.manifest.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: self.started.elapsed().as_secs_f64(),
            ready: self.admission.admitted(),
            begun,
            done: self.is_done(),
            complete,
            absent,
            doubles: doubles.into_iter().map(str::to_owned).collect(),
            refused: Reason::ALL.map(|reason| (reason.name().to_owned(), self.inbox.refusals().get(reason))).into(),
            dropped: self.dropped.load(Ordering::Relaxed),
            renewals: self.renewals,
            agents: self.seats.values_mut().map(agent).collect(),
        };
        self.status.change(|shared| *shared = status);
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
                }
                let safe = seat.disk.write(&record).inspect_err(|error| tracing::error!(agent, %error, "not written"));
                self.events.push_back((agent, Event::Stored { ticket, safe: safe.is_ok() }));
            }
        }
    }

    /// Records where its agents are at the end, if that is where their own rounds have led them.
    fn record_end(&mut self, recorder: &mut dyn Recorder<T>) {
        for seat in self.seats.values_mut().filter(|seat| seat.recorded != Some(seat.rounds) && seat.is_at_end()) {
            if let Record::Checkpoint { round, point } = seat.peer.checkpoint() {
                recorder.record(&seat.peer, round, &point);
                seat.recorded = Some(round);
            }
        }
    }

    /// Says farewell, writes down where it is, and ends: with an error if it is done and the answer
    /// may be wrong, or if something could not be written.
    fn end(&mut self, recorder: &mut dyn Recorder<T>) -> Result<Stop, NodeError> {
        let agents: Vec<u32> = self.seats.keys().copied().collect();
        let done = self.is_done();
        let wrong = if done { self.judge_end() } else { Vec::new() };
        for agent in agents {
            self.tell(agent, Event::Command(Command::Leave), recorder);
        }
        self.settle(recorder);
        let written = self.seats.values().try_for_each(|seat| seat.disk.write(&seat.peer.checkpoint()));
        let recorded = recorder.finish();
        self.report();
        self.transport.close();
        written?;
        recorded.map_err(NodeError::Records)?;
        match done {
            true if wrong.is_empty() => Ok(Stop::Done),
            true => Err(Missing::AtEnd(wrong).into()),
            false => Ok(Stop::Left),
        }
    }

    /// Everything that speaks against the answer, now that the rounds are done.
    fn judge_end(&mut self) -> Vec<String> {
        self.attendance.look(self.seats.values().map(|seat| &seat.peer));
        let peers: Vec<&Peer<T>> = self.peers().collect();
        let rounds = self.seats.values().map(|seat| seat.rounds).max().unwrap_or(0);
        let mut wrong = self.attendance.judge_end(&peers, rounds);
        for seat in self.seats.values().filter(|seat| !seat.is_at_end()) {
            let (agent, worked_in) = (seat.peer.node(), seat.worked_in);
            wrong.push(format!(
                "agent {agent} missed the end: the last round that it did itself is {worked_in} of {rounds}"
            ));
        }
        for agent in self.doubles.found() {
            wrong.push(format!("two processes acted as `{}`", self.config.owner(*agent)));
        }
        wrong
    }
}

impl<T: Scalar> Seat<T> {
    /// Whether its own rounds have led it to the end, or nearly so.
    fn is_at_end(&self) -> bool {
        self.worked_in >= self.rounds - self.rounds / 10
    }
}
