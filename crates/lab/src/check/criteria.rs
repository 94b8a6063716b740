//! The step sizes of a group: those that are given, automatic ones, and what is known of their
//! limits.

use std::collections::BTreeMap;

use fabnet_core::hypergradient::Solver;
use fabnet_core::network::{Reach, tolerated_step};
use fabnet_core::settings::{SettingsSource, Value};
use fabnet_core::{ProblemExt, Scalar};
use serde::Serialize;

use super::plan_report::PlanReport;
use super::smoothness::smoothness;
use crate::plan::Group;
use crate::run::{Setup, WINDOW};

/// The step sizes of a group.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StepSizes {
    /// The step sizes that are given; `None` if they are automatic.
    pub given: Option<BTreeMap<String, f64>>,
    /// What agents with automatic step sizes decide; `None` if step sizes are given.
    pub plan: Option<PlanReport>,
    /// The largest lower step size with which agents reach consensus on this network, to a factor
    /// of two, for the largest curvature at the start; `None` if that was not checked.
    pub tolerated_lower: Option<f64>,
    /// The same as a fraction of the inverse curvature.
    pub tolerated_fraction: Option<f64>,
    /// The lower step size that is given.
    pub lower: Option<f64>,
    /// `η_x (1/η_z − 1/η_y) σ_max(J)²`, where y and z have step sizes of their own: stable below 1.
    pub coupling: Option<f64>,
    /// `σ_max(J)`, where J is the Jacobian of y*(x).
    pub jacobian: Option<f64>,
}

impl StepSizes {
    /// The step sizes of a group that is set up.
    pub(super) fn new<T: Scalar>(group: &Group, setup: &Setup<T>) -> Self {
        let names: Vec<&str> = setup.algorithm.blocks().names().collect();
        let (direction, smoothness) = (setup.algorithm.direction(), smoothness(setup));
        let setting = |key: &str| match group.algorithm.get(&format!("steps.{key}")) {
            Some(Value::Number(size)) => Some(size),
            _ => None,
        };
        let given = names.iter().map(|name| setting(name)).collect::<Option<Vec<f64>>>();
        let named = |sizes: &[f64]| names.iter().map(|name| (*name).to_owned()).zip(sizes.iter().copied()).collect();
        let plan = setup.algorithm.step_plan(&smoothness);
        let sizes = Self {
            plan: plan
                .map(|plan| PlanReport::new(&plan, named(&direction.step_sizes(&smoothness, plan.sizes)), smoothness)),
            lower: given.as_deref().and_then(<[f64]>::last).copied(),
            given: given.as_deref().map(named),
            ..Self::default()
        };
        if given.is_none() {
            return sizes;
        }
        let curvature = direction.bound(&smoothness).unwrap_or(smoothness.g_yy);
        let inverse = direction.step_sizes(&smoothness, [1.0 / curvature; 3])[names.len() - 1];
        let sizes = sizes.with_tolerance(setup, setting("momentum").unwrap_or_default(), inverse);
        match (given.as_deref(), names == ["x", "y", "z"]) {
            (Some(&[x, y, z]), true) => sizes.with_coupling(setup, (x, y, z)),
            _ => sizes,
        }
    }

    /// Whether step sizes are given, and it is not known which ones consensus tolerates.
    pub(super) fn tolerance_is_open(&self) -> bool {
        self.given.is_some() && self.tolerated_lower.is_none()
    }

    /// Adds the largest lower step size that consensus on this network tolerates. It stays open
    /// where agents are not connected, and where trials would take too long.
    fn with_tolerance<T: Scalar>(self, setup: &Setup<T>, momentum: f64, inverse: f64) -> Self {
        let Some(spread) = Reach::new(&*setup.topology, WINDOW).spread() else { return self };
        let (topology, weights) = (setup.topology.clone(), setup.weights.clone());
        let Some(fraction) = tolerated_step(topology, weights, momentum, spread.bound()) else { return self };
        let tolerated = fraction * inverse * (1.0 - momentum);
        Self { tolerated_lower: Some(tolerated), tolerated_fraction: Some(fraction), ..self }
    }

    /// Adds whether different step sizes of y and z make x unstable. It is stable if `η_x (1/η_z −
    /// 1/η_y) σ_max(J)² < 1`: y and z lag the moving lower-level solution differently, which gives
    /// x the effective mass `I + η_x (1/η_y − 1/η_z) JᵀJ`.
    fn with_coupling<T: Scalar>(self, setup: &Setup<T>, (x, y, z): (f64, f64, f64)) -> Self {
        let problem = &*setup.problem;
        // For other problems the criterion does not hold, and solving the lower level takes long.
        if problem.optimum().is_none() || problem.has_private() || y == 0.0 || z == 0.0 {
            return self;
        }
        let (_, start, _) = problem.starting_point(0);
        let sigma = Solver::new(problem).sensitivity(problem, &start).f64();
        Self { coupling: Some(x * (1.0 / z - 1.0 / y) * sigma * sigma), jacobian: Some(sigma), ..self }
    }
}
