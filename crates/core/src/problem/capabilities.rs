//! Capabilities: what a problem can do beyond values and gradients.

use super::batched::BatchOracle;
use super::finding::Finding;
use super::point::{GradientMut, Objective, Point};
use super::scratch::Scratch;
use super::solution::{Optimum, Solutions};
use super::tensor::Tensor;
use crate::Scalar;

/// What a problem can do beyond values and gradients: each capability is a trait, and optional.
///
/// A problem that wraps another one names every field, or takes all others over with `..`. So a
/// capability that is added later is passed on, or the wrapper does not compile.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a, T: Scalar> {
    /// Outer coordinates that belong to one agent and never leave it.
    pub private: Option<&'a dyn PrivatePart>,
    /// Data that is divided into mini-batches.
    pub batches: Option<&'a dyn MiniBatches>,
    /// Data that agents hold, and that may be on another machine.
    pub data: Option<&'a dyn LocalData>,
    /// Whether gradients are random: methods that suffer from noise then act with more care.
    pub noisy: bool,
    /// What single-level methods minimise, where it is not the sum of the levels.
    pub objective: Option<&'a dyn SingleLevel<T>>,
    /// Exact second-order products.
    pub curvature: Option<&'a dyn Curvature<T>>,
    /// The solution, where it is known.
    pub optimum: Option<&'a dyn KnownOptimum<T>>,
    /// `y*(x)` and `∇F*(x)` in closed form; [`crate::hypergradient`] solves for them otherwise.
    pub closed_form: Option<&'a dyn ClosedForm<T>>,
    /// Metrics and findings of its own.
    pub findings: Option<&'a dyn Findings<T>>,
    /// A model whose parameters y holds.
    pub model: Option<&'a dyn ModelParameters>,
    /// A way to evaluate all agents at once, where that is cheaper than one after the other.
    pub batched: Option<&'a dyn BatchOracle<T>>,
}

/// Outer coordinates that belong to one agent, such as the weights of its samples. They enter that
/// agent's functions only and are never sent.
pub trait PrivatePart: Send + Sync {
    /// The number of an agent's private coordinates. Data is split unevenly, so it may differ.
    fn private(&self, agent: usize) -> usize;
}

/// Data that is divided into fixed mini-batches; an evaluation in a round sees one of them.
pub trait MiniBatches: Send + Sync {
    /// The number of mini-batches that an agent's data is divided into.
    fn batches(&self, agent: usize) -> usize;

    /// The mini-batch that an agent sees in a round.
    fn batch(&self, agent: usize, round: u64) -> usize;
}

/// Data that agents hold.
pub trait LocalData: Send + Sync {
    /// What an agent needs to take part and is not on this machine, in words.
    fn missing(&self, _agent: usize) -> Option<String> {
        None
    }

    /// The range of an agent's inputs, where the agent prepared them itself: nothing else shows
    /// that the data of one site is on another scale.
    fn data_range(&self, _agent: usize) -> Option<DataRange> {
        None
    }

    /// The bytes of the data of all agents, for estimates of memory; 0 where it is little.
    fn data_bytes(&self) -> usize;
}

/// The range of the scalars of an agent's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataRange {
    /// The smallest scalar.
    pub low: f64,
    /// The largest scalar.
    pub high: f64,
    /// The root of the mean square.
    pub rms: f64,
}

/// What single-level methods minimise on this problem, where it is not the sum of its levels:
/// samples with weights, for example, have another sum.
pub trait SingleLevel<T: Scalar>: Send + Sync {
    /// Adds the scaled gradient in y of an objective, at the outer variables of the point.
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>);
}

/// Exact products with the second derivatives of the lower level, for SOBA.
pub trait Curvature<T: Scalar>: Send + Sync {
    /// Adds the scaled `∇²ₓᵧgᵢ·v` to the outer part and `∇²ᵧᵧgᵢ·v` to the inner part.
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: GradientMut<'_, T>, scratch: &mut Scratch<T>);
}

/// The solution of the problem.
pub trait KnownOptimum<T>: Send + Sync {
    /// The solution, in all variables.
    fn optimum(&self) -> Optimum<T>;
}

/// Closed forms of a problem without private coordinates.
pub trait ClosedForm<T: Scalar>: Send + Sync {
    /// Writes the response `y*(x)` of the lower level.
    fn response(&self, x: &[T], y: &mut [T]);

    /// Writes the hypergradient `∇F*(x)`.
    fn hypergradient(&self, x: &[T], out: &mut [T]);
}

/// Metrics and findings of a problem's own.
pub trait Findings<T: Scalar>: Send + Sync {
    /// A metric such as an accuracy, by its name in the registry; none if it is not this problem's.
    fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64>;

    /// What people want to see of a run beside its numbers, such as suspected samples, ranked.
    fn findings(&self, of: &dyn Solutions<T>) -> Vec<Finding>;
}

/// A model whose parameters y holds.
pub trait ModelParameters: Send + Sync {
    /// The tensors that y consists of, in order.
    fn tensors(&self) -> Vec<Tensor>;
}
