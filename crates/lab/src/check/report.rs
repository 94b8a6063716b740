//! The types of a check's report. Their JSON form is stable: fields are added, and never renamed.

use serde::Serialize;

use super::criteria::StepSizes;
use super::network::NetworkReport;
use super::trial::Trial;
use super::warning::Warning;
use crate::estimate::MemoryNeeds;

/// What is known of a plan before it runs.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The version of this form.
    pub format: u32,
    /// The name of the experiment.
    pub name: String,
    /// The outcome of the check.
    pub verdict: Verdict,
    /// Everything that may go wrong.
    pub warnings: Vec<Warning>,
    /// Everything that cannot work.
    pub obstacles: Vec<String>,
    /// What the check did not look at.
    pub not_checked: Vec<String>,
    /// The networks of the plan, each once.
    pub networks: Vec<NetworkReport>,
    /// The groups that can run.
    pub groups: Vec<GroupReport>,
    /// The cost of all runs together.
    pub total: Total,
    /// How long the check took, in seconds.
    pub seconds: f64,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No problem was found.
    Ok,
    /// The plan can run, with warnings.
    Warnings,
    /// The plan cannot work.
    Impossible,
}

/// What is known of one group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// The label of the group in tables and figures.
    pub label: String,
    /// The name of its method.
    pub algorithm: String,
    /// The kind of its problem.
    pub problem: String,
    /// The number of coordinates of x.
    pub outer: usize,
    /// The number of coordinates of y.
    pub inner: usize,
    /// Whether gradients are noisy.
    pub noisy: bool,
    /// The rounds of a run.
    pub rounds: u64,
    /// Its step sizes, and what is known of their limits.
    pub step_sizes: StepSizes,
    /// The trial runs, one for each seed that was tried.
    pub trials: Vec<Trial>,
    /// The memory that one run needs.
    pub needs: MemoryNeeds,
    /// The bytes of a message's payload.
    pub message_bytes: usize,
    /// The bytes of a message's payload by the bits of its words, where peers or nodes send words.
    pub word_bytes: Vec<(u32, usize)>,
    /// The bytes that an agent sends in a run.
    pub bytes_per_agent: f64,
    /// The time of one run in seconds, if it does not stop early.
    pub seconds: f64,
}

/// The cost of all runs together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Total {
    /// The number of runs.
    pub runs: usize,
    /// The number of threads for all runs together.
    pub threads: usize,
    /// The number of runs at the same time.
    pub parallel: usize,
    /// The time of all runs, in seconds.
    pub seconds: f64,
    /// The memory of the runs that are carried out at the same time.
    pub memory_bytes: f64,
    /// The memory that is available, where the system says.
    pub available_bytes: Option<f64>,
}
