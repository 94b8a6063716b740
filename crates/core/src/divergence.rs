//! When a run has diverged.

use crate::{Optimum, Scalar, View, linalg};

/// The limits beyond which a run counts as diverged. They are set at its start.
///
/// A run has diverged if a value of any agent is not finite. Where the optimum is known, it has also diverged if the relative error
/// of the mean or of any agent exceeds `10³·max(1, its start)`, or if the consensus error exceeds `10³·(1 + its start)`. Where no
/// optimum is known, it has diverged if the norm of any agent's point exceeds `10⁸·(1 + its start)`.
#[derive(Clone, Debug)]
pub struct Divergence<T> {
    /// None where it is not known, or zero, so that no error is relative to it.
    optimum: Option<Optimum<T>>,
    /// The largest relative error of the mean.
    mean: f64,
    consensus: f64,
    /// The largest relative error of each agent; without an optimum, the largest norm.
    agents: Vec<f64>,
}

impl<T: Scalar> Divergence<T> {
    /// By this factor an error may grow.
    const ERROR: f64 = 1e3;
    /// By this factor the norm of a point may grow.
    const NORM: f64 = 1e8;

    /// The limits for a run that starts as seen here.
    pub fn new(optimum: Option<Optimum<T>>, start: &View<'_, T>) -> Self {
        let optimum = optimum.filter(|optimum| optimum.measured().iter().any(|value| !value.is_zero()));
        let mean = start.mean();
        let error = optimum.as_ref().map_or(0.0, |optimum| start.relative_error_of(&mean, optimum).f64());
        let mut limits = Self { optimum, mean: largest_error(error), consensus: f64::INFINITY, agents: Vec::new() };
        if limits.optimum.is_some() {
            limits.consensus = Self::ERROR * (1.0 + start.consensus(&mean));
        }
        let mut point = Vec::new();
        let limit = |agent| {
            start.write_point(agent, &mut point);
            let size = limits.size(start, &point, mean.len());
            if limits.optimum.is_some() { largest_error(size) } else { Self::NORM * (1.0 + size) }
        };
        limits.agents = start.agents.range().map(limit).collect();
        limits
    }

    /// Whether the run is beyond a limit, in one pass over the agents. The mean is that of the agents' points.
    pub fn is_seen(&self, view: &View<'_, T>, mean: &[T]) -> bool {
        let error = self.optimum.as_ref().map_or(0.0, |optimum| view.relative_error_of(mean, optimum).f64());
        let (mut within, mut point, mut squares) = (error <= self.mean, Vec::new(), 0.0);
        for (agent, limit) in view.agents.range().zip(&self.agents) {
            view.write_point(agent, &mut point);
            // What is not a number is not within a limit either.
            within &= self.size(view, &point, mean.len()) <= *limit && point.iter().all(|value| value.is_finite());
            if !within {
                return true;
            }
            squares += linalg::distance_squared(view.measured(&point[..mean.len()]), view.measured(mean)).f64();
        }
        let consensus = (squares / self.agents.len() as f64).sqrt();
        !(within && consensus <= self.consensus)
    }

    /// What the limit of an agent is about; so many coordinates of its point are shared.
    fn size(&self, view: &View<'_, T>, point: &[T], shared: usize) -> f64 {
        match &self.optimum {
            Some(optimum) => view.relative_error_of(&point[..shared], optimum).f64(),
            None => linalg::norm(point).f64(),
        }
    }
}

fn largest_error(start: f64) -> f64 {
    Divergence::<f64>::ERROR * start.max(1.0)
}
