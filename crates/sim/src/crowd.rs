//! All agents of an experiment as peers, on links that are not perfect.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::observe::{Agents, View};
use fabnet_core::peer::{Effect, Event, Incarnation, Pace, Policy, Schedule, Task, Unit};
use fabnet_core::{Algorithm, Evaluations, Peer, Problem, Scalar, Topology, Weights};

use crate::links::{Links, Lossy};

/// Peers that act in rounds: in each, whoever acts takes what has arrived, corrects, and sends.
///
/// On perfect links this is what a [`fabnet_core::Shard`] does, up to the unit of mass.
pub struct Crowd<T: Scalar> {
    peers: Vec<Peer<T>>,
    links: Links<Vec<u8>>,
    stopped: Vec<bool>,
    round: u64,
}

impl<T: Scalar> Crowd<T> {
    /// All agents of a problem, who know each other.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        topology: Arc<dyn Topology>,
        weights: Arc<dyn Weights>,
        seed: u64,
        lossy: Lossy,
    ) -> Self {
        let agents = problem.agents();
        let policy = Policy {
            // Nobody stops here, so nobody is given up: a lossy link is not a death.
            evict_after: u64::MAX / 1024,
            ..Policy::new(Pace::Free, agents)
        };
        let task = |node: usize| Task {
            algorithm: algorithm.clone(),
            problem: problem.clone(),
            seed,
            node: node as u32,
            run: seed,
            unit: Unit::default(),
            schedule: Schedule::Contacts(topology.clone()),
            weights: weights.clone(),
            policy,
        };
        let life = |node: usize| Incarnation { counter: 1, nonce: node as u64 };
        let mut crowd = Self {
            peers: (0..agents).map(|node| Peer::new(task(node), life(node), 0, None)).collect(),
            links: Links::new(lossy, seed),
            stopped: vec![false; agents],
            round: 0,
        };
        for node in 0..agents {
            crowd.peers[node].meet((0..agents).map(|other| (other as u32, life(other))));
            crowd.tell(node, Event::Stored { ticket: 0, safe: true });
        }
        crowd
    }

    /// One round.
    pub fn round(&mut self) {
        for (to, bytes) in self.links.arrivals(self.round) {
            self.tell(to, Event::Message(bytes));
        }
        self.round += 1;
        for node in 0..self.peers.len() {
            if self.links.acts(node, self.round) {
                self.tell(node, Event::Tick);
            }
        }
    }

    /// What observers see.
    pub fn view(&self) -> View<'_, T> {
        let task = self.peers[0].task();
        let mut evaluations = Evaluations::default();
        self.peers.iter().for_each(|peer| evaluations += peer.work().evaluations);
        let bytes: u64 = self.peers.iter().map(|peer| peer.counters().bytes).sum();
        View {
            round: self.round,
            problem: &*task.problem,
            algorithm: &*task.algorithm,
            bytes_per_agent: bytes as f64 / self.peers.len() as f64,
            evaluations,
            agents: self,
        }
    }

    /// Bytes of state kept per agent, on average: rows, what stays, inputs, and ledgers.
    pub fn state_bytes(&self) -> f64 {
        self.peers.iter().map(Peer::state_bytes).sum::<usize>() as f64 / self.peers.len() as f64
    }

    /// The peers.
    pub fn peers(&self) -> &[Peer<T>] {
        &self.peers
    }

    /// An agent stops, in the middle of things. Nobody is told.
    pub fn stop(&mut self, agent: usize) {
        self.stopped[agent] = true;
    }

    /// Lets something happen to a peer, if it runs.
    pub fn tell(&mut self, node: usize, event: Event) {
        if self.stopped[node] {
            return;
        }
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        let sent = effects.into_iter().filter_map(|effect| match effect {
            Effect::Send { to, bytes } => Some((to as usize, bytes)),
            Effect::Store { .. } => None,
        });
        self.links.send(self.round, node, sent);
    }
}

impl<T: Scalar> Agents<T> for Crowd<T> {
    fn range(&self) -> Range<usize> {
        0..self.peers.len()
    }

    fn row(&self, agent: usize) -> &[T] {
        self.peers[agent].row()
    }

    fn keep(&self, agent: usize) -> &[T] {
        self.peers[agent].keep()
    }

    fn input(&self, agent: usize) -> &[T] {
        self.peers[agent].input()
    }
}
