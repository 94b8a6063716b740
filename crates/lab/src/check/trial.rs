//! The trial run: a short run of the real problem on the real network, by the simulator of the run.
//!
//! Where objectives are quadratic and step sizes are fixed, a round is an affine map. What grows in
//! it shows in the differences of one run after whole periods, or, where gradients are noisy or
//! graphs do not repeat, in the difference between two runs with the same noise from different
//! starts. This growth is extrapolated to the end of the run. Elsewhere the trial shows only what
//! happens in its own rounds, and growth that is exponential.

use fabnet_core::Scalar;
use serde::Serialize;

use super::extrapolation::Forecast;
use super::trial_plan::TrialPlan;
use super::trial_runs::TrialRuns;
use crate::plan::Group;
use crate::run::{Setup, SetupError, Stopwatch};

/// What a trial run showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The seed of the trial run.
    pub seed: u64,
    /// The rounds that were carried out, by both runs together where there are two.
    pub rounds: u64,
    /// The last round of the run that the trial saw.
    pub seen: u64,
    /// How long the trial took, in seconds.
    pub seconds: f64,
    /// What the trial means for the whole run.
    pub forecast: Forecast,
    /// The factor per round of what grows fastest, where that was measured.
    pub growth: Option<f64>,
    /// The bytes that an agent sends in a round, on average.
    #[serde(skip)]
    pub(super) bytes_per_round: f64,
}

impl Trial {
    /// The seconds of one round of one run.
    pub(super) fn seconds_per_round(&self) -> f64 {
        self.seconds / self.rounds.max(1) as f64
    }
}

/// Makes a trial run of at most this many seconds.
pub(super) fn trial<T: Scalar>(setup: &Setup<T>, group: &Group, limit: f64) -> Result<Trial, SetupError> {
    let plan = TrialPlan::new(setup, group);
    let mut runs = TrialRuns::new(setup, &plan)?;
    let watch = Stopwatch::start();
    while runs.seen + plan.stride <= plan.rounds && watch.seconds() < limit && !runs.diverged {
        runs.advance(plan.stride)?;
    }
    let left = plan.horizon.saturating_sub(runs.seen) as f64 / plan.stride as f64;
    let (forecast, rate) = runs.forecast(&plan, left);
    Ok(Trial {
        seed: setup.seed(),
        rounds: runs.seen * runs.count(),
        seen: runs.seen,
        seconds: watch.seconds(),
        forecast,
        growth: rate.map(|rate| (rate / plan.stride as f64).exp()),
        bytes_per_round: runs.bytes_per_agent() / runs.seen.max(1) as f64,
    })
}
