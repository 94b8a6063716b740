//! The simulated cluster: nodes with their peers, and everything around them.

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation, Record};

use super::disk::WriteFault;
use super::event_log::EventLog;
use super::fault::Fault;
use super::happening::Happening;
use super::invariant_checker::InvariantChecker;
use super::network::Network;
use super::node::Node;
use super::peer_factory::PeerFactory;
use super::queue::{EventQueue, Scheduled, TICK};
use super::sampler::FaultSampler;
use super::scenario::{NetworkKind, Scenario};
use super::violation::{Check, Violation};
use super::wire::{ChunkLengths, WireMessage, sequence_of_state};

/// All nodes of a simulation and their surroundings. Events go to peers, their effects to the
/// network and to disks, and every peer is checked after every event.
pub(super) struct World {
    pub(super) scenario: Scenario,
    pub(super) factory: PeerFactory,
    pub(super) nodes: Vec<Node>,
    pub(super) queue: EventQueue,
    pub(super) network: Network,
    pub(super) sampler: FaultSampler,
    pub(super) checker: InvariantChecker,
    /// The chunks of all messages.
    lengths: ChunkLengths,
    pub(super) log: EventLog,
    /// Rounds of peers that have stopped.
    finished_rounds: u64,
    /// A buffer that is kept from event to event.
    effects: Vec<Effect>,
}

impl World {
    /// A cluster whose nodes have not started.
    pub(super) fn new(scenario: &Scenario, readable_log: bool) -> Self {
        let factory = PeerFactory::new(scenario);
        Self {
            lengths: factory.chunk_lengths(),
            factory,
            nodes: (0..scenario.nodes).map(|_| Node::default()).collect(),
            queue: EventQueue::default(),
            network: if scenario.network == NetworkKind::Contacts {
                Network::ring(scenario.nodes)
            } else {
                Network::complete(scenario.nodes)
            },
            sampler: FaultSampler::new(scenario.seed, &scenario.rates),
            checker: InvariantChecker::new(scenario.exact && scenario.rates[Fault::LostWrite] > 0.0),
            log: EventLog::new(readable_log),
            finished_rounds: 0,
            effects: Vec::new(),
            scenario: scenario.clone(),
        }
    }

    /// A node by its number.
    pub(super) fn node(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// The peers that run, ascending, without those that were expelled.
    pub(super) fn running(&self) -> Vec<&Peer<f64>> {
        self.nodes.iter().filter(|node| !node.absent).filter_map(|node| node.peer.as_ref()).collect()
    }

    /// Rounds of all peers, also of those that have stopped.
    pub(super) fn peer_rounds(&self) -> u64 {
        self.finished_rounds + self.running().iter().map(|peer| peer.counters().rounds).sum::<u64>()
    }

    /// A tick of a node, which also schedules the next one. A paused node ticks when it runs again.
    pub(super) fn tick(&mut self, node: u32, boot: u64) -> Check {
        let (now, place) = (self.queue.now(), &self.nodes[node as usize]);
        if !place.runs_since(boot) {
            return Ok(());
        }
        let pause = place.impairments.remaining_pause(now);
        let next = if pause > 0 { pause } else { place.impairments.tick_period(now) };
        self.queue.schedule(next, Scheduled::Tick { node, boot });
        if pause > 0 { Ok(()) } else { self.tell(node, Event::Tick) }
    }

    /// The arrival of a message, which a deaf node misses and a slow one takes later.
    pub(super) fn deliver(&mut self, to: u32, bytes: Vec<u8>) -> Check {
        let (now, impairments) = (self.queue.now(), &self.nodes[to as usize].impairments);
        if impairments.is_deaf(now) {
            return Ok(());
        }
        let wait = impairments.delivery_wait(now);
        if wait > 0 {
            self.queue.schedule(wait, Scheduled::Deliver { to, bytes });
            return Ok(());
        }
        self.tell(to, Event::Message(bytes))
    }

    /// The oldest pending write of a node reaches its disk, and the peer is told.
    pub(super) fn complete_write(&mut self, node: u32, boot: u64) -> Check {
        let now = self.queue.now();
        let place = self.node(node);
        if place.boot != boot {
            return Ok(());
        }
        let Some((ticket, record)) = place.writes.pop_front() else { return Ok(()) };
        let safe = !place.impairments.disk_is_full(now);
        let awaited = !matches!(record, Record::Checkpoint { .. });
        if safe {
            if let Record::State(state) = &record {
                place.stored_sequence = sequence_of_state(state);
            }
            self.write(node, record);
        }
        if awaited { self.tell(node, Event::Stored { ticket, safe }) } else { Ok(()) }
    }

    fn write(&mut self, node: u32, record: Record) {
        let fault = WriteFault::draw(&mut self.sampler);
        self.node(node).disk.write(record, fault);
    }

    /// Hands an event to the peer of a node, carries out its effects, and checks it.
    pub(super) fn tell(&mut self, node: u32, event: Event) -> Check {
        let Some(mut peer) = self.node(node).peer.take() else { return Ok(()) };
        let now = self.queue.now();
        self.log.trace_event(now, node, &event);
        let mut effects = std::mem::take(&mut self.effects);
        peer.handle(event, &mut effects);
        if self.log.is_readable() {
            self.note_notices(&mut peer);
        }
        let mut check = Ok(());
        for effect in effects.drain(..) {
            if let Effect::Send { bytes, .. } = &effect
                && !self.nodes[node as usize].lies
            {
                let message = WireMessage(bytes);
                self.checker.record_sent(now, message, &self.lengths);
                check = check.and(self.check_stored_before_sent(&peer, message));
            }
            self.lie_after(&peer, &effect);
            self.carry_out(node, effect);
        }
        check = check.and_then(|()| self.checker.check_peer(&peer));
        self.effects = effects;
        self.node(node).peer = Some(peer);
        check
    }

    /// Checks that a message depends on nothing that a crash could still undo.
    fn check_stored_before_sent(&self, peer: &Peer<f64>, message: WireMessage<'_>) -> Check {
        let (node, place) = (peer.node(), &self.nodes[peer.node() as usize]);
        if self.scenario.exact && message.carries_mass() && message.sequence() > place.stored_sequence {
            return Err(Violation::SendsBeforeState { node });
        }
        if place.disk.incarnation != Some(peer.incarnation()) {
            return Err(Violation::SendsBeforeIncarnation { node });
        }
        Ok(())
    }

    fn carry_out(&mut self, node: u32, effect: Effect) {
        match effect {
            Effect::Send { to, bytes } => {
                self.network.transmit((node, to), bytes, &mut self.sampler, &mut self.queue);
            }
            Effect::Store { ticket, record } => {
                let (boot, delay) = (self.node(node).boot, self.sampler.delay(1));
                self.node(node).writes.push_back((ticket, record));
                self.queue.schedule(delay, Scheduled::Write { node, boot });
                if self.sampler.happens_in_chaos(Fault::CrashInWrite, 0.05) {
                    // Before the write is complete.
                    self.queue.schedule(self.queue.now() % delay, Scheduled::Inject(Fault::CrashInWrite));
                }
            }
        }
    }

    /// Starts a node from what its disk holds, unless it has started or stopped since `boot`.
    pub(super) fn start(&mut self, node: u32, boot: u64) -> Check {
        let now = self.queue.now();
        let place = self.node(node);
        if place.boot != boot || !place.is_down() {
            return Ok(());
        }
        place.boot += 1;
        place.stored_sequence = 0;
        let (boot, counter) = (place.boot, place.next_counter(now));
        let incarnation = Incarnation { counter, nonce: self.sampler.bits() };
        let peer = self.factory.restore(node, &mut self.nodes[node as usize].disk, incarnation);
        self.note(|| {
            let (life, round) = (peer.incarnation().counter, peer.round());
            Happening::new("start", format!("node {node} starts in life {life}, round {round}")).of(node)
        });
        let first = peer.start();
        self.checker.node_started(node);
        let check = self.checker.check_peer(&peer);
        self.node(node).peer = Some(peer);
        self.carry_out(node, first);
        let offset = self.sampler.delay(1);
        self.queue.schedule(offset, Scheduled::Tick { node, boot });
        check.and_then(|()| self.tell_of_expelled(node))
    }

    /// Stops a node in the middle of things; false if it did not run.
    pub(super) fn stop(&mut self, node: u32) -> bool {
        let place = self.node(node);
        let Some(peer) = place.peer.take() else { return false };
        place.boot += 1;
        // Each write in flight is complete, or not begun.
        for (_, record) in std::mem::take(&mut place.writes) {
            if self.sampler.below(2) == 0 {
                self.write(node, record);
            }
        }
        self.finished_rounds += peer.counters().rounds;
        self.note(|| Happening::new("stop", format!("node {node} stops")).of(node));
        true
    }

    /// Starts a node again within this many ticks.
    pub(super) fn restart_within(&mut self, node: u32, ticks: u64) {
        let (boot, delay) = (self.node(node).boot, self.sampler.moments(ticks * TICK));
        self.queue.schedule(delay, Scheduled::Start { node, boot });
    }
}

mod lies;
mod watched;

#[cfg(test)]
mod tests;
