//! What settings are compared by.

use std::fmt::{Display, Formatter};

use super::error::TuneError;
use crate::metric::metrics;
use crate::plan::Plan;
use crate::results::GroupSummary;

/// What settings are compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The number of rounds to the target of `[stop]`.
    Rounds {
        /// The metric of the target.
        metric: String,
    },
    /// The last value of a metric, because there is no `[stop]`.
    Last {
        /// The metrics that may be meant; the first one that a problem has counts.
        metrics: Vec<String>,
    },
}

/// How good a setting is. Smaller is better: first the number of runs that failed counts, then the
/// rounds, then the last value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score {
    /// The number of runs that diverged or, with a target, did not reach it.
    pub failed: usize,
    /// The median of the rounds to the target, infinite if less than half of the runs reach it;
    /// `None` without a target.
    pub rounds: Option<f64>,
    /// The median of the last value.
    pub value: f64,
}

impl Objective {
    /// The target of a plan, or else those recorded metrics that every problem has: they fall as a
    /// run gets better, while a problem's own metric may be an accuracy.
    pub(super) fn of(plan: &Plan) -> Result<Self, TuneError> {
        if let Some(target) = &plan.target {
            return Ok(Self::Rounds { metric: target.metric.clone() });
        }
        let known: Vec<&str> = metrics::<f64>().iter().map(|metric| metric.name).collect();
        let metrics: Vec<String> =
            plan.metrics.iter().filter(|metric| known.contains(&metric.as_str())).cloned().collect();
        if metrics.is_empty() { Err(TuneError::NoObjective) } else { Ok(Self::Last { metrics }) }
    }

    /// The score of a group's runs.
    pub(super) fn score(&self, group: &GroupSummary) -> Score {
        let last = |metric: &String| group.last.get(metric).and_then(|statistics| statistics.median);
        let (failed, rounds, value) = match self {
            Self::Rounds { metric } => {
                let rounds = group.reached_at.median.unwrap_or(f64::INFINITY);
                (group.runs - group.reached, Some(rounds), last(metric))
            }
            // Not every problem has every metric: the error is known only where the optimum is.
            Self::Last { metrics } => (group.diverged, None, metrics.iter().find_map(last)),
        };
        Score { failed, rounds, value: value.unwrap_or(f64::INFINITY) }
    }
}

impl Display for Objective {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rounds { metric } => {
                write!(f, "settings are compared by failed runs, then by the rounds until {metric} has reached [stop]")
            }
            Self::Last { metrics } => write!(
                f,
                "there is no [stop], so settings are compared by diverged runs, then by the last value of {}; \
                 give a [stop] to compare by rounds",
                metrics.join(" or ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_failures_count_before_rounds_and_rounds_before_values() {
        let score = |failed, rounds, value| Score { failed, rounds, value };
        assert!(score(0, Some(900.0), 1.0) < score(1, Some(10.0), 0.0));
        assert!(score(0, Some(10.0), 1.0) < score(0, Some(11.0), 0.0));
        assert!(score(0, None, 0.5) < score(0, None, 1.0));
    }
}
