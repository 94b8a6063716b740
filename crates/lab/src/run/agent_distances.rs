//! How far each agent is from the solution and from the others.

use fabnet_core::{Scalar, View, linalg};

use super::record::RunRecord;
use super::watch_hello::is_error;

/// How far each agent is from the solution and from the others.
pub(super) struct AgentDistances {
    /// The relative errors, where the solution is known and the first metric is an error.
    pub(super) errors: Option<Vec<f64>>,
    /// The distances from the mean of all agents.
    pub(super) from_mean: Vec<f64>,
}

impl AgentDistances {
    /// The largest number of scalars of all agents for which each agent is measured.
    const SCALARS: usize = 10_000_000;

    /// Measures every agent, unless there are too many scalars.
    pub(super) fn measure<T: Scalar>(view: &View<'_, T>, record: &RunRecord<'_, T>) -> Option<Self> {
        let (mean, agents) = (view.mean(), view.agents.range());
        if mean.len() * agents.len() > Self::SCALARS {
            return None;
        }
        let optimum = record.optimum().filter(|_| record.last().next().is_some_and(|(name, _)| is_error(name)));
        let (mut point, mut errors, mut from_mean) = (Vec::new(), Vec::new(), Vec::new());
        for agent in agents {
            view.write_point(agent, &mut point);
            let shared = &point[..mean.len()];
            errors.extend(optimum.map(|optimum| view.relative_error_of(shared, optimum).f64()));
            from_mean.push(linalg::distance_squared(shared, &mean).sqrt().f64());
        }
        Some(Self { errors: (!errors.is_empty()).then_some(errors), from_mean })
    }

    /// The agent with the largest error or, where errors are not known, the one that is farthest
    /// from the mean.
    pub(super) fn worst(&self) -> Option<WorstAgent> {
        let distances = self.errors.as_ref().unwrap_or(&self.from_mean);
        let (agent, &distance) = distances.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1))?;
        Some(WorstAgent { agent, distance })
    }
}

/// The agent that is farthest from where all should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstAgent {
    /// Which agent it is.
    pub agent: usize,
    /// Its relative error or, where errors are not known, its distance from the mean of all agents.
    pub distance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_before_distances_from_the_mean() {
        let worst = |errors: Option<Vec<f64>>| {
            AgentDistances { errors, from_mean: vec![5.0, 1.0, 2.0] }.worst().map(|worst| (worst.agent, worst.distance))
        };
        assert_eq!(worst(None), Some((0, 5.0)));
        assert_eq!(worst(Some(vec![0.1, 0.1, 0.3])), Some((2, 0.3)));
        // An agent that has diverged is worse than any number.
        assert_eq!(worst(Some(vec![0.1, f64::INFINITY, 0.3])), Some((1, f64::INFINITY)));
        assert_eq!(worst(Some(Vec::new())), None);
    }
}
