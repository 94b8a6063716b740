//! All agents of an experiment as peers with ledgers, on unreliable links.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::observe::{Agents, View};
use fabnet_core::peer::{
    Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Table, Unit, WordLength,
};
use fabnet_core::{Algorithm, Peer, Problem, Scalar, Topology, Weights};

use rayon::prelude::*;

use super::links::{LinkFaults, LossyLinks};

/// The smallest number of peers that is worth a thread of its own.
const GRAIN: usize = 8;

/// Peers that act in rounds: each acting peer takes what has arrived, corrects its row, and sends.
///
/// On perfect links this is what a [`fabnet_core::Shard`] does, up to the unit of mass.
pub struct LossyPeers<T: Scalar> {
    peers: Vec<Peer<T>>,
    links: LossyLinks<Vec<u8>>,
    stopped: Vec<bool>,
    round: u64,
}

impl<T: Scalar> LossyPeers<T> {
    /// One peer for each agent of a problem, on links with these faults, in words of this length;
    /// all of them know each other from the start.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        topology: Arc<dyn Topology>,
        weights: Arc<dyn Weights>,
        seed: u64,
        (faults, words): (LinkFaults, WordLength),
    ) -> Self {
        let agents = problem.agents();
        let policy = Policy {
            // Agents of an experiment do not crash, so silence means loss, never death. The limit
            // is far from overflow when a tick is added to it.
            evict_after: u64::MAX / 1024,
            ..Policy::new(SyncMode::Free, agents)
        };
        let task = |node: usize| PeerConfig {
            algorithm: algorithm.clone(),
            problem: problem.clone(),
            seed,
            node: node as u32,
            run: seed,
            unit: Unit::default(),
            words,
            schedule: NeighbourSource::Contacts(topology.clone()),
            weights: weights.clone(),
            policy,
        };
        let mut engine = Self {
            peers: (0..agents).map(|node| Peer::new(task(node), incarnation(node), 0, None)).collect(),
            links: LossyLinks::new(faults, seed),
            stopped: vec![false; agents],
            round: 0,
        };
        engine.introduce_all();
        engine
    }

    /// Tells every peer of all others, and that its incarnation is stored: nothing is written here.
    fn introduce_all(&mut self) {
        let agents = self.peers.len();
        let roster = Table::of_living(agents, (0..agents).map(|node| (node as u32, incarnation(node))));
        self.peers.par_iter_mut().for_each(|peer| peer.meet(&roster));
        self.tell_all((0..agents).map(|_| vec![Event::Stored { ticket: 0, safe: true }]).collect());
    }

    /// Carries out one round: peers take what has arrived, by several threads, then they send.
    pub fn round(&mut self) {
        let mut arrived: Vec<Vec<Event>> = self.peers.iter().map(|_| Vec::new()).collect();
        for (to, bytes) in self.links.arrivals(self.round) {
            arrived[to].push(Event::Message(bytes));
        }
        self.tell_all(arrived);
        self.round += 1;
        let tick = |node| if self.links.acts(node, self.round) { vec![Event::Tick] } else { Vec::new() };
        self.tell_all((0..self.peers.len()).map(tick).collect());
    }

    /// The state of the run as observers see it.
    pub fn view(&self) -> View<'_, T> {
        let task = self.peers[0].config();
        View {
            round: self.round,
            problem: &*task.problem,
            algorithm: &*task.algorithm,
            costs: self.peers.iter().map(Peer::costs).sum(),
            agents: self,
        }
    }

    /// Bytes of state per agent, on average: rows, memory, contributions and ledgers.
    pub fn state_bytes(&self) -> f64 {
        self.peers.iter().map(Peer::state_bytes).sum::<usize>() as f64 / self.peers.len() as f64
    }

    /// The peers, by agent.
    pub fn peers(&self) -> &[Peer<T>] {
        &self.peers
    }

    /// The peers, by agent, for those who look up what peers compute when they are asked.
    pub fn peers_mut(&mut self) -> &mut [Peer<T>] {
        &mut self.peers
    }

    /// Crashes an agent: it handles no event from now on, and the others are not told.
    pub fn stop(&mut self, agent: usize) {
        self.stopped[agent] = true;
    }

    /// Cuts an agent off from all others, or joins it to them again.
    pub fn cut_off(&mut self, agent: usize, cut: bool) {
        self.links.cut_off(agent, cut);
    }

    /// Hands an event to a peer that has not stopped, and sends the messages that it answers with.
    pub fn tell(&mut self, node: usize, event: Event) {
        let mut events: Vec<Vec<Event>> = self.peers.iter().map(|_| Vec::new()).collect();
        events[node].push(event);
        self.tell_all(events);
    }

    /// Hands events to peers that have not stopped, those of each peer in their order, and sends
    /// the messages that they answer with.
    fn tell_all(&mut self, events: Vec<Vec<Event>>) {
        let handle = |((peer, stopped), events): ((&mut Peer<T>, &bool), Vec<Event>)| {
            let mut effects = Vec::new();
            for event in events.into_iter().filter(|_| !stopped) {
                peer.handle(event, &mut effects);
            }
            effects
        };
        let answers: Vec<Vec<Effect>> =
            self.peers.par_iter_mut().zip(&self.stopped).zip(events).with_min_len(GRAIN).map(handle).collect();
        for (node, effects) in answers.into_iter().enumerate() {
            let sent = effects.into_iter().filter_map(|effect| match effect {
                Effect::Send { to, bytes } => Some((to as usize, bytes)),
                Effect::Store { .. } => None,
            });
            self.links.send(self.round, node, sent);
        }
    }
}

impl<T: Scalar> Agents<T> for LossyPeers<T> {
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

/// The only incarnation of a node: nobody restarts in an experiment.
fn incarnation(node: usize) -> Incarnation {
    Incarnation { counter: 1, nonce: node as u64 }
}
