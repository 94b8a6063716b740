//! The runs of a group together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::ending::Outcome;
use super::run_settings::run_settings;
use super::statistics::{failures, median, moments};
use crate::metric;
use crate::plan::Group;

/// The summary of the runs of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The label of the group in tables and figures.
    pub label: String,
    /// The settings of its runs.
    pub settings: Map<String, Json>,
    /// The number of runs that were carried out.
    pub runs: usize,
    /// The number of runs that diverged, judged by the worst agent.
    pub diverged: usize,
    /// The number of the plan's runs that were interrupted or not carried out.
    #[serde(default)]
    pub unfinished: usize,
    /// The number of runs that reached the target.
    pub reached: usize,
    /// The rounds in which the target was reached. A run that did not reach it counts as infinite,
    /// and infinity is null.
    pub reached_at: RoundStatistics,
    /// The last records by metric. A run that diverged counts as worse than any number.
    #[serde(rename = "final")]
    pub last: BTreeMap<String, MetricStatistics>,
}

/// Statistics of a round over several runs; null where they are infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundStatistics {
    /// The median over the runs.
    pub median: Option<f64>,
    /// The earliest round.
    pub min: Option<f64>,
    /// The latest round.
    pub max: Option<f64>,
}

/// Statistics of a metric over several runs; null where they are infinite, or mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricStatistics {
    /// The mean over the runs.
    pub mean: Option<f64>,
    /// The standard deviation of the sample.
    pub std: Option<f64>,
    /// The median over the runs.
    pub median: Option<f64>,
}

/// What the summary of a group takes from each of its runs.
pub(super) struct RunResult<'a> {
    pub(super) outcome: Outcome,
    pub(super) reached_at: Option<u64>,
    /// The last record by metric; `None` where a metric means nothing.
    pub(super) last: &'a BTreeMap<String, Option<f64>>,
}

impl GroupSummary {
    /// The summary of the runs that are done, of as many as were planned.
    pub(super) fn new(group: &Group, planned: usize, runs: &[RunResult<'_>]) -> Self {
        let count = |outcome| runs.iter().filter(|run| run.outcome == outcome).count();
        let names = runs.first().map(|run| run.last.keys()).into_iter().flatten();
        Self {
            label: group.label.clone(),
            settings: run_settings(group),
            runs: runs.len(),
            diverged: count(Outcome::Diverged),
            unfinished: planned.saturating_sub(runs.len()),
            reached: count(Outcome::Reached),
            reached_at: RoundStatistics::of(runs.iter().map(|run| run.reached_at)),
            last: names.map(|name| (name.clone(), MetricStatistics::new(name, runs))).collect(),
        }
    }

    /// How many runs failed, in words: "7 of 10 diverged", "2 of 10 unfinished", both or nothing.
    pub fn failures(&self) -> String {
        failures(self.diverged, self.unfinished, self.runs + self.unfinished)
    }
}

impl RoundStatistics {
    /// The statistics of rounds; `None` counts as infinite.
    pub fn of(rounds: impl IntoIterator<Item = Option<u64>>) -> Self {
        let mut rounds: Vec<f64> =
            rounds.into_iter().map(|round| round.map_or(f64::INFINITY, |round| round as f64)).collect();
        rounds.sort_by(f64::total_cmp);
        Self {
            median: finite(median(&rounds)),
            min: finite(rounds.first().copied()),
            max: finite(rounds.last().copied()),
        }
    }
}

impl MetricStatistics {
    /// The statistics of a metric over the runs of a group. A run that diverged, or whose value is
    /// not finite where others have one, counts as infinitely bad. Then mean and deviation are
    /// infinite.
    fn new(metric: &str, runs: &[RunResult<'_>]) -> Self {
        let worst = if metric::is_better_larger(metric) { f64::NEG_INFINITY } else { f64::INFINITY };
        let value = |run: &RunResult<'_>| {
            let recorded = run.last.get(metric).copied().flatten();
            recorded.filter(|_| run.outcome != Outcome::Diverged).unwrap_or(worst)
        };
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let (mean, std) = moments(&values);
        Self { mean: finite(mean), std: finite(std), median: finite(median(&values)) }
    }
}

/// The value, if it is finite: JSON has no other numbers.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statistics of a metric over runs with these outcomes and last values of each metric.
    fn statistics(metric: &str, runs: &[(Outcome, Option<f64>)]) -> MetricStatistics {
        let last = |value| ["upper", "accuracy"].map(|name| (name.to_owned(), value)).into();
        let records: Vec<BTreeMap<_, _>> = runs.iter().map(|(_, value)| last(*value)).collect();
        let results = runs.iter().zip(&records);
        let results = results.map(|((outcome, _), last)| RunResult { outcome: *outcome, reached_at: None, last });
        MetricStatistics::new(metric, &results.collect::<Vec<_>>())
    }

    #[test]
    fn a_run_that_diverged_counts_as_worse_than_any_number() {
        let finished = |value| (Outcome::Finished, Some(value));
        let lost = (Outcome::Diverged, Some(0.5));
        let sound = statistics("upper", &[finished(1.0), finished(3.0), finished(2.0)]);
        assert_eq!(sound, MetricStatistics { mean: Some(2.0), std: Some(1.0), median: Some(2.0) });
        let mixed = [finished(1.0), finished(3.0), lost];
        let median = |median| MetricStatistics { mean: None, std: None, median: Some(median) };
        assert_eq!(statistics("upper", &mixed), median(3.0));
        assert_eq!(statistics("accuracy", &mixed), median(1.0));
        assert_eq!(statistics("upper", &[finished(1.0), lost]), MetricStatistics::default());
    }

    #[test]
    fn a_metric_that_means_nothing_has_no_values() {
        let nothing = (Outcome::Finished, None);
        assert_eq!(statistics("upper", &[nothing, nothing]), MetricStatistics::default());
    }
}
