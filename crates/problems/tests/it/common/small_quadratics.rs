//! A problem on which quotients of differences are exact to many digits.

use fabnet_core::{Capabilities, Dim, GradientMut, Level, MiniBatches, Point, Problem, Scratch};
use fabnet_problems::BilevelQuadratic;

pub(crate) const DIM: Dim = Dim { outer: 2, inner: 3 };
/// A power of two, so that it is exact.
pub(crate) const SCALE: f64 = 1.0 / 1024.0;

/// A bilevel quadratic with mini-batches, whose gradients are small: the methods take products of
/// second derivatives as quotients of differences, whose rounding grows with the gradients.
#[derive(Debug)]
pub(crate) struct SmallQuadratics {
    /// One for each mini-batch.
    batches: Vec<BilevelQuadratic<f64>>,
}

impl SmallQuadratics {
    pub(crate) fn new(agents: usize, batches: usize) -> Self {
        let batch = |seed| BilevelQuadratic::new(agents, DIM, 3.0, 0.3, seed);
        Self { batches: (0..batches as u64).map(batch).collect() }
    }
}

impl Problem<f64> for SmallQuadratics {
    fn agents(&self) -> usize {
        self.batches[0].agents()
    }

    fn dim(&self) -> Dim {
        DIM
    }

    /// That of s² F(v/s), which is s ∇F(v/s).
    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, scratch: &mut Scratch<f64>) {
        let larger = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| v / SCALE).collect() };
        let (x, y) = (larger(at.x), larger(at.y));
        let scale = (to.scale.0 * SCALE, to.scale.1 * SCALE);
        let batch = &self.batches[self.batch(at.agent, at.round)];
        batch.add_gradient(level, Point { x: &x, y: &y, ..at }, GradientMut { scale, ..to }, scratch);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.batches[self.batch(at.agent, at.round)].value(level, at)
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities { batches: Some(self), ..Capabilities::default() }
    }
}

impl MiniBatches for SmallQuadratics {
    fn batches(&self, _agent: usize) -> usize {
        self.batches.len()
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        (agent + round as usize) % self.batches.len()
    }
}
