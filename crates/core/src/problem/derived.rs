//! What follows from the methods and the capabilities of a problem.

use super::capabilities::{DataRange, KnownOptimum, LocalData, ModelParameters};
use super::finding::Finding;
use super::point::{Dim, GradientMut, Objective, Point};
use super::scratch::Scratch;
use super::solution::{Optimum, Solutions};
use super::tensor::Tensor;
use crate::{Problem, Scalar};

/// What follows from the methods and the capabilities of a problem. Every problem has it.
pub trait ProblemExt<T: Scalar>: Problem<T> {
    /// The number of an agent's private coordinates.
    fn private(&self, agent: usize) -> usize {
        self.capabilities().private.map_or(0, |part| part.private(agent))
    }

    /// Whether any agent has private coordinates.
    fn has_private(&self) -> bool {
        self.capabilities().private.is_some_and(|part| (0..self.agents()).any(|agent| part.private(agent) > 0))
    }

    /// Whether it has an outer variable, shared or private. Private coordinates count even where
    /// the data behind all of them is on other machines.
    fn is_bilevel(&self) -> bool {
        self.dim().outer > 0 || self.capabilities().private.is_some()
    }

    /// Where an agent starts: its private coordinates, x and y.
    fn starting_point(&self, agent: usize) -> (Vec<T>, Vec<T>, Vec<T>) {
        let Dim { outer, inner } = self.dim();
        let [mut own, mut x, mut y] = [self.private(agent), outer, inner].map(|len| vec![T::zero(); len]);
        self.start(agent, &mut own, &mut x, &mut y);
        (own, x, y)
    }

    /// The number of mini-batches of an agent; 1 if its data is not divided.
    fn batches(&self, agent: usize) -> usize {
        self.capabilities().batches.map_or(1, |batches| batches.batches(agent))
    }

    /// The mini-batch that an agent sees in a round.
    fn batch(&self, agent: usize, round: u64) -> usize {
        self.capabilities().batches.map_or(0, |batches| batches.batch(agent, round))
    }

    /// The largest number of mini-batches that any agent has.
    fn most_batches(&self) -> usize {
        (0..self.agents()).map(|agent| self.batches(agent)).max().unwrap_or(1)
    }

    /// Whether gradients are random.
    fn noisy(&self) -> bool {
        self.capabilities().noisy
    }

    /// What an agent needs to take part and is not on this machine, in words.
    fn missing(&self, agent: usize) -> Option<String> {
        self.capabilities().data?.missing(agent)
    }

    /// The range of an agent's inputs, where the agent prepared them itself.
    fn data_range(&self, agent: usize) -> Option<DataRange> {
        self.capabilities().data?.data_range(agent)
    }

    /// The bytes of the data of all agents; 0 where it is little.
    fn data_bytes(&self) -> usize {
        self.capabilities().data.map_or(0, LocalData::data_bytes)
    }

    /// Adds the scaled gradient in y of what a single-level method minimises, at the outer
    /// variables of the point.
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        if let Some(single) = self.capabilities().objective {
            return single.add_objective(objective, at, scale, y, scratch);
        }
        let scale = (T::zero(), scale);
        for &level in objective.levels() {
            self.add_gradient(level, at, GradientMut { scale, own: &mut [], x: &mut [], y: &mut *y }, scratch);
        }
    }

    /// The solution, where it is known.
    fn optimum(&self) -> Option<Optimum<T>> {
        self.capabilities().optimum.map(KnownOptimum::optimum)
    }

    /// A metric of the problem's own, by its name in the registry.
    fn measure(&self, metric: &str, of: &dyn Solutions<T>) -> Option<f64> {
        self.capabilities().findings?.measure(metric, of)
    }

    /// What people want to see of a run beside its numbers.
    fn findings(&self, of: &dyn Solutions<T>) -> Vec<Finding> {
        self.capabilities().findings.map_or_else(Vec::new, |own| own.findings(of))
    }

    /// The tensors that y consists of, in order, where y holds the parameters of a model.
    fn tensors(&self) -> Vec<Tensor> {
        self.capabilities().model.map_or_else(Vec::new, ModelParameters::tensors)
    }
}

impl<T: Scalar, P: Problem<T> + ?Sized> ProblemExt<T> for P {}
