//! A run of three peers whose answer is known.

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Gradient;
use fabnet_core::peer::{Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Unit, WordLength};
use fabnet_core::topology::Ring;
use fabnet_core::weights::Uniform;
use fabnet_core::{Dim, GradientMut, Level, Point, Problem, Scratch};

pub(crate) const NODES: usize = 3;
pub(crate) const RUN: u64 = 7;

/// `½ (y − agent)²` for each agent.
pub(crate) struct Bowls;

impl Problem<f64> for Bowls {
    fn agents(&self) -> usize {
        NODES
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 2 }
    }

    fn add_gradient(&self, _level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        to.y.iter_mut().zip(at.y).for_each(|(slope, y)| *slope += to.scale.1 * (y - at.agent as f64));
    }

    fn value(&self, _level: Level, at: Point<'_, f64>) -> f64 {
        at.y.iter().map(|y| 0.5 * (y - at.agent as f64).powi(2)).sum()
    }
}

/// The peer of a node on a ring that goes on in this way.
pub(crate) fn config(node: u32, sync: SyncMode) -> PeerConfig<f64> {
    let algorithm = PushPull::new(&Bowls, Gradient::new(), Steps::same(0.1)).unwrap();
    PeerConfig {
        algorithm: Arc::new(algorithm),
        problem: Arc::new(Bowls),
        seed: 0,
        node,
        run: RUN,
        unit: Unit::default(),
        words: WordLength::default(),
        schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Ring::new(agents)))),
        weights: Arc::new(Uniform),
        policy: Policy { exact: true, ..Policy::new(sync, NODES) },
    }
}

/// The only life of a node.
pub(crate) fn life(node: u32) -> Incarnation {
    Incarnation { counter: 1, nonce: u64::from(node) }
}
