//! How the peers of a simulation are configured, started and judged.

use std::sync::Arc;

use fabnet_core::peer::{Incarnation, NeighbourSource, PeerConfig, Policy, SealScheme, Unit, Unsealed};
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem};

use super::disk::Disk;
use super::scenario::{MethodKind, NetworkKind, Scenario};
use super::seals::NodeKey;
use super::survivor_quadratic::SurvivorQuadratic;
use super::wire::ChunkLengths;

/// Makes peers that all solve the problem of one scenario.
pub(super) struct PeerFactory {
    scenario: Scenario,
    problem: Arc<SurvivorQuadratic>,
    algorithm: Arc<dyn Algorithm<f64>>,
}

impl PeerFactory {
    /// The problem and the algorithm of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let problem = Arc::new(SurvivorQuadratic::new(scenario));
        Self { algorithm: scenario.algorithm(&*problem), problem, scenario: scenario.clone() }
    }

    /// A peer from the stored state, if nodes resume exactly and it is intact; else one of a new
    /// incarnation at the newest checkpoint.
    pub(super) fn restore(&self, node: u32, disk: &mut Disk, incarnation: Incarnation) -> Peer<f64> {
        let (task, scheme) = (self.task(node), self.scheme(node));
        let state = disk.state.take().filter(|_| self.scenario.exact);
        let resumed = state.and_then(|state| Peer::resume_sealed(task.clone(), scheme.clone(), &state).ok());
        resumed.unwrap_or_else(|| {
            let (round, point) = disk.checkpoint().map_or((0, None), |(round, point)| (round, Some(point)));
            Peer::sealed(task, scheme, incarnation, round, point.as_deref())
        })
    }

    /// The chunks of the messages between these peers.
    pub(super) fn chunk_lengths(&self) -> ChunkLengths {
        ChunkLengths::new(&self.algorithm.segments(0))
    }

    fn scheme(&self, node: u32) -> Arc<dyn SealScheme> {
        if self.scenario.sealed { Arc::new(NodeKey::new(self.scenario.seed, node)) } else { Arc::new(Unsealed) }
    }

    fn task(&self, node: u32) -> PeerConfig<f64> {
        let (nodes, exact, scenario) = (self.scenario.nodes, self.scenario.exact, self.scenario.clone());
        PeerConfig {
            algorithm: self.algorithm.clone(),
            problem: self.problem.clone(),
            seed: scenario.seed,
            node,
            run: scenario.seed,
            unit: Unit::default(),
            words: scenario.words,
            policy: Policy { checkpoint_every: 20, exact, ..Policy::new(scenario.pace, nodes) },
            schedule: if scenario.network == NetworkKind::Contacts {
                NeighbourSource::Contacts(scenario.topology(nodes))
            } else {
                NeighbourSource::Living(Arc::new(move |agents| scenario.topology(agents)))
            },
            weights: Arc::new(Uniform),
        }
    }

    /// The largest distance of any coordinate of any of these peers from their common solution.
    pub(super) fn distance_to_solution(&self, peers: &[&Peer<f64>]) -> f64 {
        self.distances(peers).into_iter().fold(0.0, f64::max)
    }

    /// The largest distance of any coordinate of each of these peers from their common solution.
    pub(super) fn distances(&self, peers: &[&Peer<f64>]) -> Vec<f64> {
        let survivors: Vec<u32> = peers.iter().map(|peer| peer.node()).collect();
        let bilevel = self.scenario.method == MethodKind::Dfab;
        let solution = self.problem.solution(&survivors, bilevel);
        let mut point = vec![0.0; self.algorithm.blocks().width()];
        let mut distance = |peer: &&Peer<f64>| {
            self.algorithm.point(peer.row(), peer.keep(), &mut point);
            let (x, y) = self.algorithm.direction().solution(self.problem.dim(), &point);
            let off = |(place, (known_x, known_y)): (usize, &(f64, f64))| {
                let off = if bilevel { x[place] - known_x } else { 0.0 };
                off.abs().max((y[place] - known_y).abs())
            };
            solution.iter().enumerate().map(off).fold(0.0, f64::max)
        };
        peers.iter().map(&mut distance).collect()
    }
}
