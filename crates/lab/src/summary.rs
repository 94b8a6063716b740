//! The summary of an experiment: each run in a few numbers, and the runs of a group together.

use std::collections::BTreeMap;

use fabnet_core::Stop;
use fabnet_core::settings::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::plan::{Group, Plan};

/// What `summary.json` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// What happened to the nodes of a real network.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Launched>,
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
    /// A value is not finite, or has run away.
    Diverged,
}

/// The runs of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupSummary {
    /// As in tables and figures.
    pub label: String,
    /// As in its runs.
    pub settings: Map<String, Json>,
    /// How many.
    pub runs: usize,
    /// How many of them diverged.
    pub diverged: usize,
    /// How many reached the target.
    pub reached: usize,
    /// When: an unreached run counts as infinite, and infinity is null.
    pub reached_at: Middle,
    /// The last records.
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

/// Values of several runs, those that are numbers; null if none is.
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
        let of = |group: &Group| GroupSummary::new(group, runs.iter().filter(|run| run.label == group.label).collect());
        let groups = plan.groups.iter().map(of).filter(|group| group.runs > 0).collect();
        Self { name: plan.name.clone(), version: env!("CARGO_PKG_VERSION").to_owned(), runs, groups }
    }
}

impl GroupSummary {
    fn new(group: &Group, runs: Vec<&RunSummary>) -> Self {
        let count = |outcome| runs.iter().filter(|run| run.outcome == outcome).count();
        let names = runs.first().map(|run| run.last.keys()).into_iter().flatten();
        let values = |name: &String| runs.iter().filter_map(|run| *run.last.get(name)?).collect();
        Self {
            label: group.label.clone(),
            settings: settings(group),
            runs: runs.len(),
            diverged: count(Outcome::Diverged),
            reached: count(Outcome::Reached),
            reached_at: Middle::of(runs.iter().map(|run| run.reached_at)),
            last: names.map(|name| (name.clone(), Spread::of(values(name)))).collect(),
        }
    }
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
    fn of(mut values: Vec<f64>) -> Self {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let (mean, std) = moments(&values);
        Self { mean, std, median: median(&values) }
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
