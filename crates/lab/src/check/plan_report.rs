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
    /// The largest curvature `L_z` of the lower level.
    pub lower_curvature: f64,
    /// The largest curvature `L_F` of the upper level where y follows x.
    pub hyper_curvature: f64,
    /// The smallest curvature `μ_g` of the lower level.
    pub smallest_curvature: f64,
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
            converges: !plan.fallback,
            lower_curvature: smoothness.g_yy,
            hyper_curvature: smoothness.hyper,
            smallest_curvature: 1.0 / smoothness.inverse,
            noise: smoothness.noise,
        }
    }

    /// How agents mix between two gradient steps.
    pub(super) fn mixing(&self) -> String {
        let times = if self.mixings == 1 { "once".to_owned() } else { format!("{} times", self.mixings) };
        let gossip = if self.gossip == "plain" { String::new() } else { format!(", gossip = \"{}\"", self.gossip) };
        format!("agents mix {times} for each step, order = \"{}\"{gossip}, momentum {}", self.order, self.momentum)
    }

    /// Why the step sizes are what they are.
    pub(super) fn reason(&self) -> String {
        let Self { lower_curvature, hyper_curvature, smallest_curvature, noise, .. } = self;
        let noise = if *noise > 0.0 {
            format!("; gradients vary by {noise:.2} of their mean, so step sizes fall when that stops the agents")
        } else {
            String::new()
        };
        format!(
            "the lower level curves by {smallest_curvature:.2e} to {lower_curvature:.2e}, the upper one by \
             {hyper_curvature:.2e} where y follows x{noise}"
        )
    }
}
