//! The summary of an experiment: each run in a few numbers, and the runs of a group together.

use std::collections::BTreeMap;

use fabnet_core::Stop;
use fabnet_core::settings::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::job::Job;
use crate::metric;
use crate::plan::{Group, Plan};

/// What `summary.json` holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Of the experiment.
    pub name: String,
    /// Of the program.
    pub version: String,
    /// Every run.
    pub runs: Vec<RunSummary>,
    /// The runs that differ in the seed only, together.
    pub groups: Vec<GroupSummary>,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Its number.
    pub run: usize,
    /// Its group.
    pub label: String,
    /// Its method.
    pub algorithm: String,
    /// The method's keys, and every other key that differs between groups.
    pub settings: Map<String, Json>,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Rounds carried out.
    pub rounds: u64,
    /// The round in which the target was reached, if it was.
    pub reached_at: Option<u64>,
    /// The last record; null where a metric means nothing.
    #[serde(rename = "final")]
    pub last: BTreeMap<String, Option<f64>>,
    /// Time spent in rounds, records apart.
    pub seconds: f64,
    /// In that time.
    pub rounds_per_second: f64,
    /// Sent, on average.
    pub bytes_per_agent: f64,
    /// Memory kept per agent.
    pub state_bytes: f64,
    /// The file with its answer, within the folder of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
    /// What happened to the nodes of a real network.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Launched>,
    /// What is missing in the records of a real run that was collected in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// How a run ended: what its plan does not say already, kept until all runs are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) rounds: u64,
    pub(crate) reached_at: Option<u64>,
    /// The last record, metric by metric.
    pub(crate) last: Vec<Option<Exact>>,
    pub(crate) seconds: f64,
    pub(crate) bytes_per_agent: Exact,
    pub(crate) state_bytes: Exact,
}

/// A number that is written as its bits: the reader of JSON may round decimals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub(crate) struct Exact(pub(crate) f64);

impl From<u64> for Exact {
    fn from(bits: u64) -> Self {
        Self(f64::from_bits(bits))
    }
}

impl From<Exact> for u64 {
    fn from(number: Exact) -> Self {
        number.0.to_bits()
    }
}

impl RunSummary {
    /// The summary of a run that ended like this.
    pub(crate) fn new(Job { run, group, seed, plan }: Job<'_>, ending: &Ending) -> Self {
        let last = ending.last.iter().map(|value| value.map(|Exact(value)| value));
        let (seconds, rounds) = (ending.seconds, ending.rounds);
        Self {
            run,
            label: group.label.clone(),
            algorithm: group.algorithm.kind.clone(),
            settings: settings(group),
            seed,
            outcome: ending.outcome,
            rounds,
            reached_at: ending.reached_at,
            last: plan.metrics.iter().cloned().zip(last).collect(),
            seconds,
            rounds_per_second: if seconds > 0.0 { rounds as f64 / seconds } else { 0.0 },
            bytes_per_agent: ending.bytes_per_agent.0,
            state_bytes: ending.state_bytes.0,
            solution: None,
            launched: None,
            missing: Vec::new(),
        }
    }
}

/// What happened to the nodes of a real network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// Nodes that were killed, and started again.
    pub kills: u64,
    /// Messages that were lost on purpose.
    pub dropped: u64,
    /// Units by which a node's mass ever differed from what its books say: 0.
    pub max_mass_residual: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The target is reached.
    Reached,
    /// All rounds are done.
    Finished,
    /// It has diverged, see [`fabnet_core::Divergence`].
    Diverged,
}

impl Outcome {
    /// As in the summary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Finished => "finished",
            Self::Diverged => "diverged",
        }
    }
}

/// The runs of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupSummary {
    /// As in tables and figures.
    pub label: String,
    /// As in its runs.
    pub settings: Map<String, Json>,
    /// How many were carried out.
    pub runs: usize,
    /// How many of them diverged, by the worst agent.
    pub diverged: usize,
    /// How many of the plan's runs were interrupted or not carried out.
    #[serde(default)]
    pub unfinished: usize,
    /// How many reached the target.
    pub reached: usize,
    /// When: an unreached run counts as infinite, and infinity is null.
    pub reached_at: Middle,
    /// The last records. A run that diverged counts as worse than any number.
    #[serde(rename = "final")]
    pub last: BTreeMap<String, Spread>,
}

/// Rounds of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Middle {
    /// Half of them are not later.
    pub median: Option<f64>,
    /// The first.
    pub min: Option<f64>,
    /// The last.
    pub max: Option<f64>,
}

/// Values of several runs; null where they are infinite, or mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Their average.
    pub mean: Option<f64>,
    /// Their standard deviation, of the sample.
    pub std: Option<f64>,
    /// Half of them are not larger.
    pub median: Option<f64>,
}

impl Summary {
    /// The summary of these runs, of as many as there are.
    pub fn new(plan: &Plan, runs: Vec<RunSummary>) -> Self {
        let of = |group: &Group| {
            let runs: Vec<_> = runs.iter().filter(|run| run.label == group.label).collect();
            GroupSummary::new(group, plan.seeds.len(), &runs)
        };
        let groups = plan.groups.iter().map(of).collect();
        Self { name: plan.name.clone(), version: env!("CARGO_PKG_VERSION").to_owned(), runs, groups }
    }
}

impl GroupSummary {
    fn new(group: &Group, planned: usize, runs: &[&RunSummary]) -> Self {
        let count = |outcome| runs.iter().filter(|run| run.outcome == outcome).count();
        let names = runs.first().map(|run| run.last.keys()).into_iter().flatten();
        Self {
            label: group.label.clone(),
            settings: settings(group),
            runs: runs.len(),
            diverged: count(Outcome::Diverged),
            unfinished: planned.saturating_sub(runs.len()),
            reached: count(Outcome::Reached),
            reached_at: Middle::of(runs.iter().map(|run| run.reached_at)),
            last: names.map(|name| (name.clone(), Spread::new(name, runs))).collect(),
        }
    }

    /// "7 of 10 diverged", "2 of 10 unfinished", both or nothing.
    pub fn failures(&self) -> String {
        failures(self.diverged, self.unfinished, self.runs + self.unfinished)
    }
}

/// How many of these runs diverged and how many are unfinished, in words; empty if none is either.
pub(crate) fn failures(diverged: usize, unfinished: usize, of: usize) -> String {
    let said = [(diverged, "diverged"), (unfinished, "unfinished")];
    let said = said.into_iter().filter(|(count, _)| *count > 0);
    said.map(|(count, what)| format!("{count} of {of} {what}")).collect::<Vec<_>>().join(", ")
}

impl Middle {
    /// Of rounds, where none is infinite.
    pub fn of(rounds: impl IntoIterator<Item = Option<u64>>) -> Self {
        let mut rounds: Vec<f64> =
            rounds.into_iter().map(|round| round.map_or(f64::INFINITY, |round| round as f64)).collect();
        rounds.sort_by(f64::total_cmp);
        let finite = |round: Option<f64>| round.filter(|round| round.is_finite());
        Self {
            median: finite(median(&rounds)),
            min: finite(rounds.first().copied()),
            max: finite(rounds.last().copied()),
        }
    }
}

impl Spread {
    /// Of a metric over the runs of a group. A run that diverged, or whose value is not finite where others have one, counts as
    /// infinite, at the end where values are worse: then mean and deviation are infinite too.
    fn new(metric: &str, runs: &[&RunSummary]) -> Self {
        let worst = if metric::is_better_larger(metric) { f64::NEG_INFINITY } else { f64::INFINITY };
        let value = |run: &&RunSummary| {
            let recorded = run.last.get(metric).copied().flatten();
            recorded.filter(|_| run.outcome != Outcome::Diverged).unwrap_or(worst)
        };
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let (mean, std) = moments(&values);
        Self { mean: finite(mean), std: finite(std), median: finite(median(&values)) }
    }
}

/// Mean and sample standard deviation; none of nothing, and no deviation of one.
pub(crate) fn moments(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (Some(mean), Some((squares / (values.len() - 1).max(1) as f64).sqrt()))
}

/// The median of sorted values; between two it lies in the middle.
pub(crate) fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (*sorted.get(sorted.len().saturating_sub(1) / 2)?, sorted[sorted.len() / 2]);
    Some(if low == high { low } else { f64::midpoint(low, high) })
}

/// The algorithm's keys as a table, and every other grid key by its dotted path.
pub(crate) fn settings(group: &Group) -> Map<String, Json> {
    let mut map = Map::new();
    for (key, value) in &group.algorithm.settings {
        match key.split_once('.') {
            None => _ = map.insert(key.clone(), json(value)),
            Some((table, key)) => {
                if let Json::Object(table) = map.entry(table).or_insert_with(|| Json::Object(Map::new())) {
                    table.insert(key.to_owned(), json(value));
                }
            }
        }
    }
    for path in &group.grid {
        map.insert(path.clone(), group.value(path).as_ref().map_or(Json::Null, json));
    }
    map
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Reached { .. } => Self::Reached,
            Stop::RoundLimit { .. } => Self::Finished,
            Stop::Diverged { .. } => Self::Diverged,
        }
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Flag(flag) => Json::from(*flag),
        Value::Whole(number) => Json::from(*number),
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run whose last value of each metric is this one.
    fn run(outcome: Outcome, value: Option<f64>) -> RunSummary {
        RunSummary {
            run: 0,
            label: "a".to_owned(),
            algorithm: "fab".to_owned(),
            settings: Map::new(),
            seed: 0,
            outcome,
            rounds: 20,
            reached_at: None,
            last: ["upper", "accuracy"].map(|name| (name.to_owned(), value)).into(),
            seconds: 1.0,
            rounds_per_second: 20.0,
            bytes_per_agent: 0.0,
            state_bytes: 0.0,
            solution: None,
            launched: None,
            missing: Vec::new(),
        }
    }

    fn spread(metric: &str, runs: &[RunSummary]) -> Spread {
        Spread::new(metric, &runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_run_that_diverged_counts_as_worse_than_any_number() {
        let finished = |value| run(Outcome::Finished, Some(value));
        let lost = || run(Outcome::Diverged, Some(0.5));
        let sound = spread("upper", &[finished(1.0), finished(3.0), finished(2.0)]);
        assert_eq!(sound, Spread { mean: Some(2.0), std: Some(1.0), median: Some(2.0) });
        let mixed = [finished(1.0), finished(3.0), lost()];
        assert_eq!(spread("upper", &mixed), Spread { mean: None, std: None, median: Some(3.0) });
        assert_eq!(spread("accuracy", &mixed), Spread { mean: None, std: None, median: Some(1.0) });
        assert_eq!(spread("upper", &[finished(1.0), lost()]), Spread::default());
    }

    #[test]
    fn a_metric_that_means_nothing_has_no_values() {
        assert_eq!(spread("upper", &[run(Outcome::Finished, None), run(Outcome::Finished, None)]), Spread::default());
    }

    #[test]
    fn failures_are_said_with_how_many_there_could_be() {
        assert_eq!(failures(0, 0, 10), "");
        assert_eq!(failures(7, 0, 10), "7 of 10 diverged");
        assert_eq!(failures(0, 2, 10), "2 of 10 unfinished");
        assert_eq!(failures(7, 2, 10), "7 of 10 diverged, 2 of 10 unfinished");
    }
}
