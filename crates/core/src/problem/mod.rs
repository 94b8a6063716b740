//! What is to be solved: `Σ fᵢ(x, y*(x))/n` over x, where y*(x) minimises `Σ gᵢ(x, y)/n`.

mod averaged;
mod batched;
mod capabilities;
mod derived;
pub mod finding;
mod hessian;
pub mod hypergradient;
mod noise;
mod oracle;
mod point;
mod scratch;
mod smoothness;
mod solution;
mod tensor;
#[cfg(test)]
mod wrappers;

pub use averaged::Averaged;
pub use batched::{BatchOracle, QueryBatch};
pub use capabilities::{
    Capabilities, ClosedForm, Curvature, DataRange, Findings, KnownOptimum, LocalData, MiniBatches, ModelParameters,
    PrivatePart, SingleLevel,
};
pub use derived::ProblemExt;
pub use finding::Finding;
pub(crate) use oracle::default_epsilon;
pub use oracle::{Evaluations, Oracle, Timer, Work};
pub use point::{Dim, GradientMut, Level, Objective, Point};
pub use scratch::Scratch;
pub use smoothness::Smoothness;
pub(crate) use smoothness::usable;
pub use solution::{Optimum, Solutions, Whose};
pub use tensor::Tensor;

use crate::Scalar;

/// A bilevel problem, shared by its agents. A single-level problem has no outer variable: its
/// objective is the lower level.
///
/// Everything is a pure function: the mini-batch and the noise of an evaluation are functions of
/// (seed, agent, round). What follows from these methods is in [`ProblemExt`].
pub trait Problem<T: Scalar>: Send + Sync {
    /// The number of agents that hold a part of it.
    fn agents(&self) -> usize;

    /// The sizes of the shared variables.
    fn dim(&self) -> Dim;

    /// Writes the starting point of an agent: its private coordinates, x and y. They arrive as
    /// zeros.
    fn start(&self, _agent: usize, _own: &mut [T], _x: &mut [T], _y: &mut [T]) {}

    /// Adds the scaled gradient of `fᵢ` (upper) or `gᵢ` (lower) at a point.
    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, scratch: &mut Scratch<T>);

    /// The value of `fᵢ` or `gᵢ` at a point.
    fn value(&self, level: Level, at: Point<'_, T>) -> T;

    /// What it can do beyond values and gradients.
    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities::default()
    }
}
