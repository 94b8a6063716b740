//! The loop of a node.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use fabnet_core::peer::{Command, Envelope, Event};
use fabnet_core::{Peer, Scalar};

use super::ending::{EndReason, NodeError};
use super::monitoring::Monitoring;
use super::peer_driver::PeerDriver;
use super::recorder::Recorder;
use super::report::StatusReporter;
use crate::clock::Clock;
use crate::config::Config;
use crate::inbox::{Inbox, Input};
use crate::monitor::{MissingMembers, NotAdmitted, StartGate};
use crate::refusals::RefusalReason;
use crate::run_digest::RunDigest;
use crate::state::Disk;
use crate::status::{RoundTimes, SharedStatus};
use crate::transport::{OpenedTransport, Transport};

/// Some agents of a run, in one process.
pub struct Node<T: Scalar> {
    config: Arc<Config>,
    digest: RunDigest,
    driver: PeerDriver<T>,
    monitoring: Monitoring,
    reporter: StatusReporter,
    transport: Arc<dyn Transport>,
    inbox: Arc<Inbox>,
    inputs: Receiver<Input>,
    clock: Arc<dyn Clock>,
    tick: Duration,
    /// The time of the next tick; none before the start.
    next_tick: Option<Duration>,
    /// The time at which the rounds were found to be done.
    done_at: Option<Duration>,
}

/// The parts that a node works with.
pub struct NodeParts {
    /// The way to the others.
    pub transport: OpenedTransport,
    /// The inbox of the transport, and the end at which inputs come out.
    pub inbox: (Arc<Inbox>, Receiver<Input>),
    /// The clock from which ticks come.
    pub clock: Arc<dyn Clock>,
    /// The place of its newest status.
    pub status: SharedStatus,
    /// The histogram of how long rounds take.
    pub times: RoundTimes,
    /// The number of messages that were lost on purpose.
    pub dropped: Arc<AtomicU64>,
    /// The time between two ticks.
    pub tick: Duration,
    /// The condition on which the first round begins.
    pub gate: StartGate,
}

impl<T: Scalar> Node<T> {
    /// A node with these peers, each with its disk and the rounds that it is to do.
    pub fn new(
        config: Config,
        digest: RunDigest,
        peers: impl IntoIterator<Item = (Peer<T>, Disk, u64)>,
        parts: NodeParts,
    ) -> Self {
        let NodeParts { transport, inbox: (inbox, inputs), clock, status, times, dropped, tick, gate } = parts;
        let OpenedTransport { transport, reconnect } = transport;
        let (config, now) = (Arc::new(config), clock.now());
        let mut node = Self {
            driver: PeerDriver::new(peers, transport.clone(), clock.clone(), config.checkpoint, times),
            monitoring: Monitoring::new(config.clone(), gate, reconnect, tick, now),
            reporter: StatusReporter::new(config.clone(), digest, status, dropped, now),
            config,
            digest,
            transport,
            inbox,
            inputs,
            clock,
            tick,
            next_tick: None,
            done_at: None,
        };
        node.report();
        node
    }

    /// Runs until the node is done or told to stop. `goes_on` is asked once in a tick.
    pub fn run(
        &mut self,
        recorder: &mut dyn Recorder<T>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<EndReason, NodeError> {
        loop {
            if let Some(end) = self.advance(recorder, goes_on)? {
                return Ok(end);
            }
            let wait = self.next_tick.unwrap_or_default().saturating_sub(self.clock.now());
            match self.inputs.recv_timeout(wait) {
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return self.end(recorder),
                Ok(input) => self.take(input)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Handles everything that has arrived or is due now, and returns without waiting for more. A
    /// driver that owns the clock calls it again and again; `Some` is the end.
    pub fn poll(
        &mut self,
        recorder: &mut dyn Recorder<T>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<EndReason>, NodeError> {
        loop {
            if let Some(end) = self.advance(recorder, goes_on)? {
                return Ok(Some(end));
            }
            match self.inputs.try_recv() {
                Ok(Input::Stop) | Err(TryRecvError::Disconnected) => return self.end(recorder).map(Some),
                Ok(input) => self.take(input)?,
                Err(TryRecvError::Empty) => return Ok(None),
            }
        }
    }

    /// The peers of the node's agents.
    pub fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.driver.peers()
    }

    /// Handles events and ticks that are due.
    fn advance(
        &mut self,
        recorder: &mut dyn Recorder<T>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<EndReason>, NodeError> {
        let mut next_tick = match self.next_tick {
            Some(next_tick) => next_tick,
            None => self.start(recorder),
        };
        self.driver.settle(recorder);
        let mut now = self.clock.now();
        while now >= next_tick {
            // Ticks that were slept through are not made up for.
            next_tick = (next_tick + self.tick).max(now);
            self.next_tick = Some(next_tick);
            if let Some(end) = self.handle_tick(now, recorder, goes_on)? {
                return Ok(Some(end));
            }
            self.driver.settle(recorder);
            now = self.clock.now();
        }
        Ok(None)
    }

    /// Lets the peers write down their incarnations, and returns the time of the first tick.
    fn start(&mut self, recorder: &mut dyn Recorder<T>) -> Duration {
        self.driver.start(recorder);
        let first_tick = self.clock.now() + self.tick;
        self.next_tick = Some(first_tick);
        first_tick
    }

    fn handle_tick(
        &mut self,
        now: Duration,
        recorder: &mut dyn Recorder<T>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<EndReason>, NodeError> {
        self.driver.push_to_all(&Event::Tick);
        if let Err(error) = self.look_around(recorder) {
            return Err(self.give_up(error, recorder));
        }
        if !goes_on() {
            return self.end(recorder).map(Some);
        }
        if self.driver.is_done() {
            if self.done_at.is_none() {
                self.driver.record_end(recorder);
            }
            let done_at = *self.done_at.get_or_insert(now);
            if self.clock.now().saturating_sub(done_at) > self.config.linger {
                return self.end(recorder).map(Some);
            }
        }
        Ok(None)
    }

    /// Looks who is there and lets the peers begin; now and then, reports and looks who is silent.
    fn look_around(&mut self, recorder: &mut dyn Recorder<T>) -> Result<(), NodeError> {
        let now = self.clock.now();
        let reports = self.reporter.is_due(now);
        if reports || !self.driver.has_begun() {
            self.monitoring.observe(&self.driver);
        }
        self.monitoring.judge_admission(now, &*self.transport)?;
        if !self.driver.has_begun() && self.monitoring.may_begin(&self.driver, self.clock.now())? {
            tracing::info!("enough members are there: the first round begins");
            self.driver.push_to_all(&Event::Command(Command::Begin));
        }
        if reports {
            self.report();
            self.monitoring.check_silence(&mut self.driver, self.clock.now());
            self.monitoring.check_duplicates(&self.driver, self.clock.now());
            if self.driver.is_done() {
                recorder.secure();
            }
            if !self.monitoring.admitted() {
                self.greet();
            }
        }
        Ok(())
    }

    fn take(&mut self, input: Input) -> Result<(), NodeError> {
        match input {
            Input::Message { from, to, bytes } => self.receive(from, to, bytes),
            Input::Hello { node, manifest } => self.receive_greeting(node, manifest)?,
            // Whoever takes inputs out of the inbox ends the node at this one.
            Input::Stop => {}
        }
        Ok(())
    }

    /// Checks that a message is what its key says, and of this run; only then a peer sees it.
    fn receive(&mut self, from: u32, to: u32, bytes: Vec<u8>) {
        self.inbox.done(from, bytes.len());
        match Envelope::read(&bytes) {
            Some(envelope) if (envelope.from, envelope.to) != (from, to) => {
                self.inbox.refusals().count(RefusalReason::Forged);
            }
            Some(envelope) if envelope.run != self.digest.number() => {
                self.inbox.refusals().count(RefusalReason::Manifest);
            }
            _ => {
                self.monitoring.heard(from);
                self.driver.push(to, Event::Message(bytes));
            }
        }
    }

    /// Compares the digest of another node with the one here. If they differ, one of the two is
    /// alone with its own and must be told: the one that nobody has answered yet ends.
    fn receive_greeting(&mut self, node: String, manifest: String) -> Result<(), NotAdmitted> {
        let ours = self.digest.to_string();
        if node == self.config.node || manifest == ours {
            return Ok(());
        }
        self.inbox.refusals().count(RefusalReason::Manifest);
        tracing::warn!(node, manifest, "a node of this run has another manifest");
        if self.monitoring.admitted() {
            self.greet();
            return Ok(());
        }
        Err(NotAdmitted::Manifest { node, theirs: manifest, ours })
    }

    fn greet(&self) {
        self.transport.greet(&self.config.node, &self.digest);
    }

    /// Says farewell, writes down where the node is, and ends: with an error if it is done and the
    /// answer may be wrong, or if something could not be written.
    fn end(&mut self, recorder: &mut dyn Recorder<T>) -> Result<EndReason, NodeError> {
        let done = self.driver.is_done();
        let wrong = if done { self.monitoring.judge_end(&self.driver) } else { Vec::new() };
        self.driver.say_farewell(recorder);
        let written = self.driver.write_checkpoints();
        let recorded = recorder.finish();
        self.report();
        self.transport.close();
        written?;
        recorded?;
        match done {
            true if wrong.is_empty() => Ok(EndReason::Done),
            true => Err(MissingMembers::AtEnd(wrong).into()),
            false => Ok(EndReason::Left),
        }
    }

    /// Says farewell before the node ends with an error that others would otherwise only notice by
    /// its silence.
    fn give_up(&mut self, error: NodeError, recorder: &mut dyn Recorder<T>) -> NodeError {
        if matches!(error, NodeError::Missing(_)) {
            self.driver.say_farewell(recorder);
            self.transport.close();
        }
        error
    }

    fn report(&mut self) {
        self.reporter.report(&mut self.driver, &mut self.monitoring, self.inbox.refusals(), &*self.clock);
    }
}
