//! How a run ended.

use fabnet_core::Stop;
use serde::{Deserialize, Serialize};

/// How a run ended: what its plan does not say already, kept until all runs are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunEnding {
    /// Whether the run reached its target, did all its rounds or diverged.
    pub(crate) outcome: Outcome,
    /// The number of rounds that were carried out.
    pub(crate) rounds: u64,
    /// The round in which the target was reached, if it was.
    pub(crate) reached_at: Option<u64>,
    /// The last record, metric by metric.
    pub(crate) last: Vec<Option<ExactNumber>>,
    /// The time spent in rounds.
    pub(crate) seconds: f64,
    /// The bytes that an agent sent, on average.
    pub(crate) bytes_per_agent: ExactNumber,
    /// The bytes of state that are kept for each agent.
    pub(crate) state_bytes: ExactNumber,
}

/// A number that is written as its bits, because a reader of JSON may round decimals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub(crate) struct ExactNumber(pub(crate) f64);

impl From<u64> for ExactNumber {
    fn from(bits: u64) -> Self {
        Self(f64::from_bits(bits))
    }
}

impl From<ExactNumber> for u64 {
    fn from(number: ExactNumber) -> Self {
        number.0.to_bits()
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The run has reached its target.
    Reached,
    /// The run has done all its rounds.
    Finished,
    /// The run has diverged, see [`fabnet_core::Divergence`].
    Diverged,
}

impl Outcome {
    /// The name that the summary has for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Finished => "finished",
            Self::Diverged => "diverged",
        }
    }
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
