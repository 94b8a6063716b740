//! The summary of an experiment: each run in a few numbers, and the runs of each group together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::ending::{ExactNumber, Outcome, RunEnding};
use super::group_summary::{GroupSummary, RunResult};
use super::run_settings::run_settings;
use crate::plan::{Group, Job, Plan};

/// The contents of `summary.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The name of the experiment.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// One summary for every run that is done.
    pub runs: Vec<RunSummary>,
    /// One summary for the runs of each group together.
    pub groups: Vec<GroupSummary>,
}

/// The summary of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// The number of the run.
    pub run: usize,
    /// The label of its group.
    pub label: String,
    /// The name of its method.
    pub algorithm: String,
    /// The method's keys, and every other key that differs between groups.
    pub settings: Map<String, Json>,
    /// The seed of the run.
    pub seed: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// The number of rounds that were carried out.
    pub rounds: u64,
    /// The round in which the target was reached, if it was.
    pub reached_at: Option<u64>,
    /// The last record by metric; null where a metric means nothing.
    #[serde(rename = "final")]
    pub last: BTreeMap<String, Option<f64>>,
    /// The time spent in rounds, without that spent on records.
    pub seconds: f64,
    /// The rounds per second of that time.
    pub rounds_per_second: f64,
    /// The bytes that an agent sent, on average.
    pub bytes_per_agent: f64,
    /// The bytes of state that are kept for each agent.
    pub state_bytes: f64,
    /// The file with the run's solution, within the folder of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
    /// What happened to the nodes of a real network.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Launched>,
    /// What is missing in the records of a real run that was collected in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// What happened to the nodes of a real network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// The number of nodes that were killed and started again.
    pub kills: u64,
    /// The number of messages that were lost on purpose.
    pub dropped: u64,
    /// The largest difference between a node's mass and its ledger, in units. It has to be 0.
    pub max_mass_residual: u64,
}

impl Summary {
    /// The summary of the runs that are done.
    pub fn new(plan: &Plan, runs: Vec<RunSummary>) -> Self {
        let of = |group: &Group| {
            let own = runs.iter().filter(|run| run.label == group.label);
            let results: Vec<RunResult<'_>> = own.map(RunSummary::result).collect();
            GroupSummary::new(group, plan.seeds.len(), &results)
        };
        let groups = plan.groups.iter().map(of).collect();
        Self { name: plan.name.clone(), version: env!("CARGO_PKG_VERSION").to_owned(), runs, groups }
    }
}

impl RunSummary {
    /// The summary of a run that ended like this.
    pub(super) fn new(Job { run, group, seed, plan }: Job<'_>, ending: &RunEnding) -> Self {
        let last = ending.last.iter().map(|value| value.map(|ExactNumber(value)| value));
        let (seconds, rounds) = (ending.seconds, ending.rounds);
        Self {
            run,
            label: group.label.clone(),
            algorithm: group.algorithm.kind.clone(),
            settings: run_settings(group),
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

    /// What the summary of the run's group is made of.
    fn result(&self) -> RunResult<'_> {
        RunResult { outcome: self.outcome, reached_at: self.reached_at, last: &self.last }
    }
}
