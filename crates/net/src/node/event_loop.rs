//! The loop of a node.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use fabnet_core::peer::{Command, Envelope, Event};
use fabnet_core::{Peer, Scalar};

use super::audit_trail::AuditTrail;
use super::certificates::CertificateKeeper;
use super::ending::{EndReason, NodeError};
use super::expulsions::Expulsions;
use super::greeting_schedule::GreetingSchedule;
use super::monitoring::Monitoring;
use super::peer_driver::PeerDriver;
use super::recorder::Recorder;
use super::report::StatusReporter;
use crate::audit::{AuditLog, AuditWriter};
use crate::clock::Clock;
use crate::config::Config;
use crate::inbox::{Inbox, Input};
use crate::monitor::{MissingMembers, StartGate};
use crate::pki::{CertificateWatch, MemberKeys};
use crate::refusals::RefusalReason;
use crate::run_digest::RunDigest;
use crate::state::{Disk, DiskQueue};
use crate::status::{RoundTimes, SharedStatus};
use crate::transport::{OpenedTransport, Transport};

/// Some agents of a run, in one process.
pub struct Node<T: Scalar> {
    pub(super) config: Arc<Config>,
    pub(super) digest: RunDigest,
    pub(super) driver: PeerDriver<T>,
    pub(super) monitoring: Monitoring,
    pub(super) certificates: CertificateKeeper,
    pub(super) greetings: GreetingSchedule,
    pub(super) expulsions: Expulsions,
    /// The agents of members that are expelled.
    pub(super) expelled: BTreeSet<u32>,
    pub(super) audit: AuditTrail,
    reporter: StatusReporter,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) inbox: Arc<Inbox>,
    inputs: Receiver<Input>,
    pub(super) clock: Arc<dyn Clock>,
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
    /// The queue of what nobody waits for.
    pub disk_queue: Arc<DiskQueue>,
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
    /// The certificates of the node; none if it does without.
    pub certificates: Option<CertificateWatch>,
    /// The keys of all members, which its peers have as well; none in a run without seals.
    pub keys: Option<Arc<MemberKeys>>,
    /// The list of expelled members.
    pub expulsions: Expulsions,
    /// The audit log of the node.
    pub audit: AuditLog,
}

impl<T: Scalar> Node<T> {
    /// A node with these peers, each with its disk and the rounds that it is to do.
    pub fn new(
        config: Config,
        digest: RunDigest,
        peers: impl IntoIterator<Item = (Peer<T>, Disk, u64)>,
        parts: NodeParts,
    ) -> Self {
        let NodeParts { transport, inbox: (inbox, inputs), clock, disk_queue, .. } = parts;
        let NodeParts { status, times, dropped, tick, gate, .. } = parts;
        let (certificates, audit) =
            (parts.certificates, AuditTrail::new(AuditWriter::new(parts.audit, disk_queue.clone())));
        let OpenedTransport { transport, reconnect } = transport;
        let (config, now) = (Arc::new(config), clock.now());
        let mut node = Self {
            driver: PeerDriver::new(peers, transport.clone(), clock.clone(), (disk_queue, config.checkpoint), times),
            certificates: CertificateKeeper::new(certificates, reconnect.clone()),
            greetings: GreetingSchedule::new(digest.to_string(), parts.keys),
            expulsions: parts.expulsions,
            expelled: BTreeSet::new(),
            monitoring: Monitoring::new(config.clone(), gate, reconnect, tick, now),
            reporter: StatusReporter::new(config.clone(), digest, status, dropped, now),
            audit,
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
        node.tell_peers_of_expelled();
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
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return self.stop(recorder),
                Ok(input) => self.take(input, recorder)?,
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
                Ok(Input::Stop) | Err(TryRecvError::Disconnected) => return self.stop(recorder).map(Some),
                Ok(input) => self.take(input, recorder)?,
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
            return self.give_up(error, recorder).map(Some);
        }
        if !goes_on() {
            return self.stop(recorder).map(Some);
        }
        if self.driver.is_done() {
            if self.done_at.is_none() {
                self.driver.record_end(recorder);
            }
            let done_at = *self.done_at.get_or_insert(now);
            let needed_at = self.monitoring.last_progress(&self.driver, now).map_or(done_at, |at| at.max(done_at));
            if self.clock.now().saturating_sub(needed_at) > self.config.linger {
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
        self.monitoring.judge_admission(now, &self.digest, &*self.transport)?;
        if !self.driver.has_begun() && self.monitoring.may_begin(&self.driver, self.clock.now())? {
            tracing::info!("enough members are there: the first round begins");
            self.driver.push_to_all(&Event::Command(Command::Begin));
        }
        if reports {
            self.check_certificates();
            self.look_for_expulsions()?;
            self.report();
            self.monitoring.check_silence(&mut self.driver, self.clock.now());
            self.monitoring.check_duplicates(&self.driver, self.clock.now());
            if self.driver.is_done() {
                recorder.secure();
            }
        }
        self.greet_if_due(now, reports);
        Ok(())
    }

    fn take(&mut self, input: Input, recorder: &mut dyn Recorder<T>) -> Result<(), NodeError> {
        match input {
            Input::Message { from, to, bytes } => self.receive(from, to, bytes),
            Input::Greeting { node, greeting } => {
                if let Err(error) = self.receive_greeting(node, greeting) {
                    self.give_up(error, recorder)?;
                }
            }
            // Whoever takes inputs out of the inbox ends the node at this one.
            Input::Stop => {}
        }
        Ok(())
    }

    /// Checks that a message is what its key says, and of this run; only then a peer sees it.
    fn receive(&mut self, from: u32, to: u32, bytes: Vec<u8>) {
        self.inbox.done(from, bytes.len());
        match Envelope::read(&bytes) {
            _ if self.expelled.contains(&from) => self.inbox.refusals().count(RefusalReason::Expelled),
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

    /// Ends because the node was told to.
    fn stop(&mut self, recorder: &mut dyn Recorder<T>) -> Result<EndReason, NodeError> {
        self.audit.note_stop(&*self.clock);
        self.end(recorder)
    }

    /// Ends, and writes down how.
    fn end(&mut self, recorder: &mut dyn Recorder<T>) -> Result<EndReason, NodeError> {
        let end = self.conclude(recorder);
        self.audit.finish(&end, &*self.clock);
        end
    }

    /// Says farewell, writes down where the node is, and ends: with an error if it is done and the
    /// answer may be wrong, or if something could not be written.
    fn conclude(&mut self, recorder: &mut dyn Recorder<T>) -> Result<EndReason, NodeError> {
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
    fn give_up(&mut self, error: NodeError, recorder: &mut dyn Recorder<T>) -> Result<EndReason, NodeError> {
        if matches!(error, NodeError::Missing(_)) {
            self.driver.say_farewell(recorder);
            self.transport.close();
        }
        let end = Err(error);
        self.audit.finish(&end, &*self.clock);
        end
    }

    fn report(&mut self) {
        let certificate = self.certificates.status(&*self.clock);
        let parts = (&mut self.driver, &mut self.monitoring);
        self.reporter.report(parts, certificate, self.inbox.refusals(), &*self.clock);
        self.audit.report(&self.driver, &self.monitoring, self.inbox.refusals(), &*self.clock);
    }
}
