//! What agents with automatic step sizes decide, for people.

use std::collections::BTreeMap;

use fabnet_core::Smoothness;
use fabnet_core::algorithm::{Acceleration, StepPlan, Tracker};
use serde::Serialize;

/// A decision on step sizes, and the curvatures that it follows from.
#[derive(Clone, Debug, Serialize)]
pub struct PlanReport {
    /// The number of mixings for each step.
    pub mixings: u64,
    /// Whether a step uses the tracker from before or after the last mixing, as `steps.order`.
    pub order: &'static str,
    /// What the mixings of a step amount to, as `steps.gossip`.
    pub gossip: &'static str,
    /// The heavy ball β.
    pub momentum: f64,
    /// The step size of each variable.
    pub sizes: BTreeMap<String, f64>,
    /// Whether it converges in a trial on the network, where there is one.
    pub converges: bool,
    /// The rounds to an error of 1e-4, known to a factor of three; none without a trial in which a
    /// plan converges, and none under noise.
    pub expected_rounds: Option<u64>,
    /// The largest curvature `L_z` of the lower level.
    pub lower_curvature: f64,
    /// The largest curvature `L_F` of the upper level where y follows x.
    pub hyper_curvature: f64,
    /// By how many gradient steps the answer of the lower level is late, where it matters to x.
    pub delay: f64,
    /// The standard deviation of gradients, divided by their mean.
    pub noise: f64,
}

impl PlanReport {
    /// The report on a plan with these step sizes.
    pub(super) fn new(plan: &StepPlan, sizes: BTreeMap<String, f64>, smoothness: Smoothness) -> Self {
        Self {
            mixings: plan.mixing.mixings,
            order: match plan.mixing.order {
                Tracker::MixThenAdd => "mix-then-add",
                Tracker::AddThenMix => "add-then-mix",
            },
            gossip: match plan.mixing.acceleration {
                Acceleration::Plain => "plain",
                Acceleration::Window => "window",
                Acceleration::Chebyshev { .. } => "chebyshev",
            },
            momentum: plan.momentum,
            sizes,
            converges: !plan.is_fallback(),
            expected_rounds: Self::expected_rounds(plan, &smoothness),
            lower_curvature: smoothness.g_yy,
            hyper_curvature: smoothness.hyper,
            delay: smoothness.delay(),
            noise: smoothness.noise,
        }
    }

    fn expected_rounds(plan: &StepPlan, smoothness: &Smoothness) -> Option<u64> {
        /// What runs need of the trial's rounds for a factor of e: 2 to 13 times as many in
        /// problems of all kinds. The trial counts a problem of moderate condition, and knows
        /// nothing of the start.
        const TIMES: f64 = 5.0;
        let known = plan.rounds > 0.0 && !plan.is_fallback() && smoothness.noise == 0.0;
        known.then(|| (TIMES * plan.rounds).round() as u64)
    }

    /// The rounds that are expected, in comparison with those of a run.
    pub(super) fn rounds(&self, available: u64) -> Option<String> {
        let expected = self.expected_rounds?;
        let enough = if expected > available { format!(", and this run has {available}") } else { String::new() };
        Some(format!("about {expected} to an error of 1e-4 (to a factor of 3){enough}"))
    }

    /// How agents mix between two gradient steps.
    pub(super) fn mixing(&self) -> String {
        let times = if self.mixings == 1 { "once".to_owned() } else { format!("{} times", self.mixings) };
        let gossip = if self.gossip == "plain" { String::new() } else { format!(", gossip = \"{}\"", self.gossip) };
        format!("agents mix {times} for each step, order = \"{}\"{gossip}, momentum {}", self.order, self.momentum)
    }

    /// Why the step sizes are what they are.
    pub(super) fn reason(&self) -> String {
        let Self { lower_curvature, hyper_curvature, delay, noise, .. } = self;
        let noise = if *noise > 0.0 {
            format!("; gradients vary by {noise:.2} of their mean, so step sizes fall when that stops the agents")
        } else {
            String::new()
        };
        format!(
            "the lower level curves by {lower_curvature:.2e} and answers {delay:.1} steps late, the upper one curves \
             by {hyper_curvature:.2e} where y follows x{noise}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_expected_after_a_trial_without_noise_and_a_short_run_is_told_so() {
        let rounds = |rounds: f64, noise: f64, available: u64| {
            let (plan, smoothness) = (StepPlan { rounds, ..StepPlan::default() }, Smoothness::default());
            PlanReport::new(&plan, BTreeMap::new(), Smoothness { noise, ..smoothness }).rounds(available)
        };
        assert_eq!(rounds(1000.0, 0.0, 5000).unwrap(), "about 5000 to an error of 1e-4 (to a factor of 3)");
        assert!(rounds(1000.0, 0.0, 4999).unwrap().ends_with(", and this run has 4999"));
        assert_eq!(rounds(f64::INFINITY, 0.0, 5000), None);
        assert_eq!(rounds(0.0, 0.0, 5000), None);
        assert_eq!(rounds(1000.0, 0.5, 5000), None);
    }
}
