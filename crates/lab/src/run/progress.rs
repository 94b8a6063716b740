//! Following runs from outside.

use super::agent_distances::WorstAgent;
use crate::plan::Job;

/// Follows the progress of runs, and may interrupt them.
pub trait Progress: Sync {
    /// Called when a run has begun, or continues, at this round.
    fn begun(&self, _job: &Job<'_>, _round: u64) {}
    /// Called when a run has come to this round.
    fn advanced(&self, _job: &Job<'_>, _round: u64) {}
    /// Called when the first metric of a run was measured, with the agent that was worst lately.
    fn measured(&self, _job: &Job<'_>, _metric: &str, _value: f64, _worst: Option<WorstAgent>) {}
    /// Whether anybody sees the worst agent: to find it, all are measured from time to time.
    fn shows_worst(&self) -> bool {
        false
    }
    /// Called when a run has ended, or was interrupted.
    fn ended(&self, _job: &Job<'_>) {}
    /// Whether all runs are to stop, and keep what was recorded.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Follows nothing and never interrupts.
impl Progress for () {}
