//! A method that starts at other points.

use std::sync::Arc;

use fabnet_core::algorithm::{Agent, Fresh, Request};
use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::{Algorithm, Blocks, Direction, Mask, Oracle, Problem, Scalar, Segments, linalg};

/// A method whose starting points are displaced by Gaussian vectors. The difference between its run
/// and the run of the method itself shows what grows, whatever the noise is.
pub(super) struct DisplacedStart<T: Scalar> {
    /// The method itself.
    pub(super) inner: Arc<dyn Algorithm<T>>,
    /// The seed of the displacements.
    pub(super) seed: u64,
}

impl<T: Scalar> Algorithm<T> for DisplacedStart<T> {
    fn direction(&self) -> &dyn Direction<T> {
        self.inner.direction()
    }

    fn blocks(&self) -> &Blocks {
        self.inner.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        self.inner.segments(own)
    }

    fn keep(&self, own: usize) -> usize {
        self.inner.keep(own)
    }

    fn sends(&self, round: u64) -> Mask {
        self.inner.sends(round)
    }

    fn starting_point(&self, problem: &dyn Problem<T>, agent: usize) -> Vec<T> {
        let mut point = self.inner.starting_point(problem, agent);
        let shift: Vec<T> = Stream::new(self.seed, agent, 0, Purpose::Probe).normals(point.len(), 1.0);
        linalg::add(&mut point, &shift);
        point
    }

    fn begin(&self, point: &[T], agent: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        self.inner.begin(point, agent, oracle);
    }

    fn step(&self, agent: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        self.inner.step(agent, oracle)
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        self.inner.point(row, keep, out);
    }

    fn step_size(&self, round: u64, agreed: &[T], keep: &[T]) -> Option<f64> {
        self.inner.step_size(round, agreed, keep)
    }

    fn bears_reversals(&self) -> bool {
        self.inner.bears_reversals()
    }

    fn recovers_within(&self) -> u64 {
        self.inner.recovers_within()
    }
}
