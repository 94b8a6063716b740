//! Small networks for the tests of peers and of their parts.

use std::ops::Range;
use std::sync::Arc;

use crate::algorithm::{PushPull, Steps};
use crate::direction::Gradient;
use crate::peer::{
    Declaration, Incarnation, NeighbourSource, PeerConfig, Policy, SealOrigin, SealScheme, SyncMode, Unit, WordLength,
};
use crate::weights::Uniform;
use crate::{Algorithm, Dim, GradientMut, Level, Point, Problem, Scratch, Topology};

/// The configurations of all nodes of a network.
pub(in crate::peer) fn configs<S: Topology + 'static>(
    agents: usize,
    exact: bool,
    topology: fn(usize) -> S,
) -> Vec<PeerConfig<f64>> {
    configs_of(Bowls { agents, broken: 0..0 }, exact, topology)
}

/// The configurations of all nodes that solve this problem.
pub(in crate::peer) fn configs_of<S: Topology + 'static>(
    problem: Bowls,
    exact: bool,
    topology: fn(usize) -> S,
) -> Vec<PeerConfig<f64>> {
    let agents = problem.agents;
    let problem: Arc<dyn Problem<f64>> = Arc::new(problem);
    let method = PushPull::new(&*problem, Gradient::new(), Steps::same(0.1)).unwrap();
    let algorithm: Arc<dyn Algorithm<f64>> = Arc::new(method);
    let config = |node: u32| PeerConfig {
        algorithm: algorithm.clone(),
        problem: problem.clone(),
        seed: 0,
        node,
        run: 7,
        unit: Unit::default(),
        words: WordLength::default(),
        schedule: NeighbourSource::Living(Arc::new(move |agents| Arc::new(topology(agents)))),
        weights: Arc::new(Uniform),
        policy: Policy { exact, ..Policy::new(SyncMode::Free, agents) },
    };
    (0..agents as u32).map(config).collect()
}

/// The seals of a node with a key of its own: a hash of the declaration under that key, 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::peer) struct Keyed(pub(in crate::peer) u32);

impl SealScheme for Keyed {
    fn length(&self) -> usize {
        16
    }

    fn seal(&self, declaration: &Declaration) -> Vec<u8> {
        let hash = |key: u64| twox_hash::XxHash64::oneshot(key, &declaration.bytes()).to_le_bytes();
        [hash(u64::from(self.0) << 1), hash(u64::from(self.0) << 1 | 1)].concat()
    }

    fn origin(&self, declaration: &Declaration, seal: &[u8]) -> SealOrigin {
        if Self(declaration.node).seal(declaration) == seal { SealOrigin::Owner } else { SealOrigin::Forged }
    }
}

/// The first life of a node.
pub(in crate::peer) fn life(node: u32) -> Incarnation {
    Incarnation { counter: 1, nonce: u64::from(node) }
}

/// `½ (y − agent)²` for each agent; its gradient is NaN in some rounds.
pub(in crate::peer) struct Bowls {
    pub(in crate::peer) agents: usize,
    pub(in crate::peer) broken: Range<u64>,
}

impl Problem<f64> for Bowls {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 3 }
    }

    fn add_gradient(&self, _level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        let scale = if self.broken.contains(&at.round) { f64::NAN } else { to.scale.1 };
        to.y.iter_mut().zip(at.y).for_each(|(slope, y)| *slope += scale * (y - at.agent as f64));
    }

    fn value(&self, _level: Level, at: Point<'_, f64>) -> f64 {
        at.y.iter().map(|y| 0.5 * (y - at.agent as f64).powi(2)).sum()
    }
}
