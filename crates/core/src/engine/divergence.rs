//! When a run has diverged.

use super::view::View;
use crate::{Optimum, Scalar, linalg};

/// The limits beyond which a run counts as diverged. They are set at its start.
///
/// A run has diverged if a value of any agent is not finite. Where the optimum is known, it has
/// also diverged if the relative error of the mean or of any agent exceeds `10³·max(1, its start)`,
/// or if the consensus error exceeds `10³·(1 + its start)`. Where no optimum is known, it has
/// diverged if the norm of any agent's point exceeds `10⁸·(1 + its start)`.
#[derive(Clone, Debug)]
pub struct Divergence<T> {
    /// What errors are measured in, at the optimum; none where that is not known, or zero, so that
    /// no error is relative to it.
    known: Option<Vec<T>>,
    /// The largest size of the mean point.
    mean: f64,
    consensus: f64,
    /// The largest size of each agent's point.
    agents: Vec<f64>,
}

impl<T: Scalar> Divergence<T> {
    /// By this factor an error may grow.
    pub const ERROR: f64 = 1e3;
    /// By this factor the norm of a point may grow.
    pub const NORM: f64 = 1e8;

    /// The limits for a run that starts as seen here.
    pub fn new(optimum: Option<Optimum<T>>, start: &View<'_, T>) -> Self {
        let known = optimum.map(|optimum| optimum.measured().to_vec());
        let known = known.filter(|known| known.iter().any(|value| !value.is_zero()));
        let mean = start.mean();
        let mut limits = Self { known, mean: f64::INFINITY, consensus: f64::INFINITY, agents: Vec::new() };
        let norm = limits.known.as_ref().map(|known| linalg::norm(known).f64());
        let largest = |start: f64| norm.map_or(Self::NORM * (1.0 + start), |norm| Self::ERROR * norm.max(start));
        if limits.known.is_some() {
            limits.mean = largest(limits.size(start, &mean, mean.len()));
            limits.consensus = Self::ERROR * (1.0 + start.consensus(&mean));
        }
        let mut point = Vec::new();
        let limit = |agent| {
            start.write_point(agent, &mut point);
            largest(limits.size(start, &point, mean.len()))
        };
        limits.agents = start.agents.range().map(limit).collect();
        limits
    }

    /// Whether the run is beyond a limit, in one pass over the agents. The mean is that of the
    /// agents' points.
    pub fn is_seen(&self, view: &View<'_, T>, mean: &[T]) -> bool {
        let within = |point: &[T], limit: f64| {
            let finite = point.iter().filter(|value| !value.is_finite()).count() == 0;
            // What is not a number is not within a limit either.
            finite && self.size(view, point, mean.len()) <= limit
        };
        if !within(mean, self.mean) {
            return true;
        }
        let (mut point, mut squares) = (Vec::new(), 0.0);
        for (agent, limit) in view.agents.range().zip(&self.agents) {
            view.write_point(agent, &mut point);
            if !within(&point, *limit) {
                return true;
            }
            squares += linalg::distance_squared(view.measured(&point[..mean.len()]), view.measured(mean)).f64();
        }
        (squares / self.agents.len() as f64).sqrt() > self.consensus
    }

    /// The size of a point, of which `shared` coordinates are shared: its distance from the optimum
    /// in what errors are measured in, or its norm where that is not known. Its relative error is
    /// this over the norm of the optimum.
    fn size(&self, view: &View<'_, T>, point: &[T], shared: usize) -> f64 {
        let square = match &self.known {
            Some(known) => linalg::distance_squared(view.measured(&point[..shared]), known),
            None => linalg::norm_squared(point),
        };
        square.f64().sqrt()
    }
}
