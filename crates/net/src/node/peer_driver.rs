//! The agents of a node as machines: events in, effects out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{Command, Effect, Event, Notice, Record};
use fabnet_core::{Peer, Scalar};
use fabnet_watch::WatchEvent;

use super::hosted_peer::HostedPeer;
use super::recorder::Recorder;
use crate::clock::Clock;
use crate::monitor::PeerView;
use crate::state::{Disk, DiskError, DiskQueue};
use crate::status::{NodeLog, RoundTimes};
use crate::transport::Transport;

/// Hands events to the peers of a node and carries out what they ask for: messages between them
/// stay in the process, others go to the transport, records to the disk.
pub(super) struct PeerDriver<T: Scalar> {
    hosted: BTreeMap<u32, HostedPeer<T>>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    disk_queue: Arc<DiskQueue>,
    /// The time between two checkpoints.
    checkpoint_interval: Duration,
    times: RoundTimes,
    events: VecDeque<(u32, Event)>,
    started: Duration,
    /// What happened lately.
    log: NodeLog,
    /// Empty between two events; kept for its memory.
    effects: Vec<Effect>,
}

impl<T: Scalar> PeerDriver<T> {
    pub(super) fn new(
        peers: impl IntoIterator<Item = (Peer<T>, Disk, u64)>,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        (disk_queue, checkpoint_interval): (Arc<DiskQueue>, Duration),
        times: RoundTimes,
    ) -> Self {
        let now = clock.now();
        let hosted = peers.into_iter().map(|(peer, disk, rounds)| {
            let mut hosted = HostedPeer::new(peer, disk, rounds, now);
            let clock = clock.clone();
            hosted.peer.time_evaluations(Arc::new(move || clock.now()));
            (hosted.peer.node(), hosted)
        });
        let hosted = hosted.collect();
        Self {
            hosted,
            transport,
            clock,
            disk_queue,
            checkpoint_interval,
            times,
            events: VecDeque::new(),
            started: now,
            log: NodeLog::default(),
            effects: Vec::new(),
        }
    }

    pub(super) fn hosted(&self) -> impl Iterator<Item = &HostedPeer<T>> {
        self.hosted.values()
    }

    pub(super) fn hosted_mut(&mut self) -> impl Iterator<Item = &mut HostedPeer<T>> {
        self.hosted.values_mut()
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = &Peer<T>> {
        self.hosted.values().map(|hosted| &hosted.peer)
    }

    /// The peers, as far as the others' attendance is concerned.
    pub(super) fn views(&self) -> Vec<&dyn PeerView> {
        self.peers().map(|peer| peer as &dyn PeerView).collect()
    }

    pub(super) fn hosts(&self, agent: u32) -> bool {
        self.hosted.contains_key(&agent)
    }

    /// What happened lately.
    pub(super) fn log(&self) -> &NodeLog {
        &self.log
    }

    /// Logs that something was done about another agent, from outside the peers.
    pub(super) fn note(&mut self, kind: &str, other: u32, text: String) {
        let seconds = self.clock.now().saturating_sub(self.started).as_secs_f64();
        let own = self.hosted.iter().next();
        let round = own.map_or(0, |(_, hosted)| hosted.peer.round());
        self.log.add(WatchEvent::new(seconds, round, kind).with_other(other).saying(text));
    }

    /// Whether all peers have begun with their rounds, or may.
    pub(super) fn has_begun(&self) -> bool {
        self.peers().all(Peer::has_begun)
    }

    /// Whether all rounds are done.
    pub(super) fn is_done(&self) -> bool {
        self.hosted().all(|hosted| hosted.peer.round() >= hosted.rounds)
    }

    /// Has each peer write down its incarnation, which is the first that it does.
    pub(super) fn start(&mut self, recorder: &mut dyn Recorder<T>) {
        let first: Vec<(u32, Effect)> = self.peers().map(|peer| (peer.node(), peer.start())).collect();
        for (agent, effect) in first {
            self.carry_out(agent, effect, recorder);
        }
    }

    /// Queues an event for one peer.
    pub(super) fn push(&mut self, agent: u32, event: Event) {
        self.events.push_back((agent, event));
    }

    /// Queues an event for every peer.
    pub(super) fn push_to_all(&mut self, event: &Event) {
        self.events.extend(self.hosted.keys().map(|&agent| (agent, event.clone())));
    }

    /// Handles events until none is left.
    pub(super) fn settle(&mut self, recorder: &mut dyn Recorder<T>) {
        while let Some((agent, event)) = self.events.pop_front() {
            self.handle(agent, event, recorder);
        }
    }

    /// Lets every peer say farewell.
    pub(super) fn say_farewell(&mut self, recorder: &mut dyn Recorder<T>) {
        let agents: Vec<u32> = self.hosted.keys().copied().collect();
        for agent in agents {
            self.handle(agent, Event::Command(Command::Leave), recorder);
        }
        self.settle(recorder);
    }

    /// Records where the peers are at the end, if that is where their own rounds have led them.
    pub(super) fn record_end(&mut self, recorder: &mut dyn Recorder<T>) {
        let unrecorded = |hosted: &&mut HostedPeer<T>| hosted.recorded != Some(hosted.rounds) && hosted.is_at_end();
        for hosted in self.hosted.values_mut().filter(unrecorded) {
            if let Record::Checkpoint { round, point } = hosted.peer.checkpoint() {
                hosted.metric = recorder.record(&hosted.peer, round, &point);
                hosted.recorded = Some(round);
            }
        }
    }

    /// Writes what still waits for the disk, and a checkpoint of every peer, whenever the last one
    /// was.
    pub(super) fn write_checkpoints(&self) -> Result<(), DiskError> {
        self.disk_queue.finish();
        self.hosted().try_for_each(|hosted| hosted.disk.write(&hosted.peer.checkpoint()))
    }

    fn handle(&mut self, agent: u32, event: Event, recorder: &mut dyn Recorder<T>) {
        let Some(hosted) = self.hosted.get_mut(&agent) else { return };
        let (before, worked) = (hosted.peer.round(), hosted.peer.counters().rounds);
        let mut effects = std::mem::take(&mut self.effects);
        let begun = self.clock.now();
        hosted.peer.handle(event, &mut effects);
        let now = self.clock.now();
        hosted.meter.add_work(now.saturating_sub(begun));
        let done = hosted.peer.round().saturating_sub(before);
        if hosted.peer.counters().rounds > worked {
            hosted.worked_in = hosted.peer.round();
        }
        if done > 0 {
            let each = hosted.meter.end(now, done, hosted.peer.evaluation_time());
            self.times.observe(each.as_secs_f64(), done);
        }
        for (round, notice) in hosted.peer.take_notices() {
            let seconds = now.saturating_sub(self.started).as_secs_f64();
            self.log.add(event_of(agent, seconds, round, notice));
        }
        for effect in effects.drain(..) {
            self.carry_out(agent, effect, recorder);
        }
        self.effects = effects;
    }

    fn carry_out(&mut self, agent: u32, effect: Effect, recorder: &mut dyn Recorder<T>) {
        match effect {
            Effect::Send { to, bytes } if self.hosts(to) => self.push(to, Event::Message(bytes)),
            Effect::Send { to, bytes } => self.transport.send(agent, to, bytes),
            Effect::Store { record: Record::Checkpoint { round, point }, .. } => {
                self.record(agent, (round, point), recorder);
            }
            Effect::Store { ticket, record } => self.store(agent, ticket, &record),
        }
    }

    /// Writes a record that messages wait for, and tells its peer.
    fn store(&mut self, agent: u32, ticket: u64, record: &Record) {
        let Some(hosted) = self.hosted.get_mut(&agent) else { return };
        let now = self.clock.now();
        let written = hosted.disk.write(record);
        match &written {
            // Some records are tried again in every tick.
            Err(error) if !hosted.is_disk_failing => tracing::error!(agent, %error, "not written"),
            Ok(()) if hosted.is_disk_failing => tracing::info!(agent, "written again"),
            _ => {}
        }
        hosted.is_disk_failing = written.is_err();
        hosted.meter.add_disk(self.clock.now().saturating_sub(now));
        self.push(agent, Event::Stored { ticket, safe: written.is_ok() });
    }

    /// Records a point. It becomes a checkpoint now and then, after the records before it: nobody
    /// waits for that, and its peer is told nothing.
    fn record(&mut self, agent: u32, (round, point): (u64, Vec<u8>), recorder: &mut dyn Recorder<T>) {
        let Some(hosted) = self.hosted.get_mut(&agent) else { return };
        let now = self.clock.now();
        hosted.metric = recorder.record(&hosted.peer, round, &point);
        hosted.recorded = Some(round);
        if hosted.checkpoints.is_due(now, self.checkpoint_interval) {
            hosted.checkpoints.begin(now);
            recorder.secure();
            let (disk, checkpoints) = (hosted.disk.clone(), hosted.checkpoints.clone());
            self.disk_queue.add(move || {
                let written = disk.write(&Record::Checkpoint { round, point });
                if let Err(error) = &written {
                    tracing::error!(agent, %error, "no checkpoint was written");
                }
                checkpoints.end(written.is_ok());
            });
        }
        hosted.meter.add_disk(self.clock.now().saturating_sub(now));
    }
}

/// Something that a peer has noticed, as those who watch hear of it; the node's log has it too.
fn event_of(agent: u32, seconds: f64, round: u64, notice: Notice) -> WatchEvent {
    match notice {
        Notice::Reversal { .. } | Notice::BadStep => tracing::debug!(agent, "{notice}"),
        _ => tracing::info!(agent, "{notice}"),
    }
    let event = WatchEvent::new(seconds, round, notice.kind()).of(agent).saying(notice.to_string());
    let event = WatchEvent { other: notice.other(), ..event };
    match notice {
        Notice::Epoch { epoch, cause } => event.with("epoch", epoch).with("reason", cause.to_string()),
        Notice::Refutation { life } => event.with("life", life),
        Notice::Reversal { size, .. } => event.with("part", size),
        Notice::Eviction { .. } | Notice::Closure { .. } | Notice::BadStep => event,
    }
}
