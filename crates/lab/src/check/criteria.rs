//! Step sizes: those that are given, those that agents would find, and what is known of their limits.

use std::collections::BTreeMap;

use fabnet_core::algorithm::Auto;
use fabnet_core::hypergradient::Solver;
use fabnet_core::settings::{Given, Value};
use fabnet_core::topology::{Reach, tolerated_step};
use fabnet_core::{Oracle, Scalar, Smoothness, Work};
use serde::Serialize;

use super::{Forecast, GroupReport, Risk, Warning};
use crate::plan::Group;
use crate::setup::{Setup, WINDOW};

/// The step sizes of a group.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StepSizes {
    /// As given; none if they are automatic.
    pub given: Option<BTreeMap<String, f64>>,
    /// What automatic step sizes start with.
    pub automatic: BTreeMap<String, f64>,
    /// The largest lower step size with which agents reach consensus on this network, to a factor
    /// of two, for the largest curvature at the start.
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
    /// Of a group that is set up.
    pub(super) fn new<T: Scalar>(group: &Group, setup: &Setup<T>) -> Self {
        let names: Vec<&str> = setup.algorithm.blocks().names().collect();
        let own = setup.algorithm.direction().automatic(&smoothness(setup), 0);
        let setting = |key: &str| match group.algorithm.get(&format!("steps.{key}")) {
            Some(Value::Number(size)) => Some(size),
            _ => None,
        };
        let given = names.iter().map(|name| setting(name)).collect::<Option<Vec<f64>>>();
        let unless_given = if given.is_some() || setup.problem.noisy() { 0.0 } else { Auto::MOMENTUM };
        let momentum = setting("momentum").unwrap_or(unless_given);
        let named = |sizes: &[f64]| names.iter().map(|name| (*name).to_owned()).zip(sizes.iter().copied()).collect();
        let sizes = Self {
            automatic: named(&own.map(|size| size * (1.0 - momentum))),
            lower: given.as_deref().and_then(<[f64]>::last).copied(),
            given: given.as_deref().map(named),
            ..Self::default()
        };
        let sizes = sizes.with_tolerance(setup, momentum, own[names.len() - 1]);
        match (given.as_deref(), names == ["x", "y", "z"]) {
            (Some(&[x, y, z]), true) => sizes.with_coupling(setup, (x, y, z)),
            _ => sizes,
        }
    }

    fn with_tolerance<T: Scalar>(self, setup: &Setup<T>, momentum: f64, own: f64) -> Self {
        let Some(spread) = Reach::new(&*setup.topology, WINDOW).spread() else { return self };
        let fraction = tolerated_step(setup.topology.clone(), setup.weights.clone(), momentum, spread);
        // Agents start from this part of the inverse curvature.
        let tolerated = fraction * own / Smoothness::INNER * (1.0 - momentum);
        Self { tolerated_lower: Some(tolerated), tolerated_fraction: Some(fraction), ..self }
    }

    /// Whether different step sizes of y and z make x unstable: `η_x (1/η_z − 1/η_y) σ_max(J)² < 1`.
    ///
    /// y and z lag the moving lower-level solution differently, which gives x the effective mass
    /// `I + η_x (1/η_y − 1/η_z) JᵀJ`.
    fn with_coupling<T: Scalar>(self, setup: &Setup<T>, (x, y, z): (f64, f64, f64)) -> Self {
        let problem = &*setup.problem;
        // Elsewhere the criterion does not hold, and solving the lower level takes its time.
        if problem.optimum().is_none() || problem.has_private() || y == 0.0 || z == 0.0 {
            return self;
        }
        let (_, start, _) = problem.starting_point(0);
        let sigma = Solver::new(problem).sensitivity(problem, &start).f64();
        Self { coupling: Some(x * (1.0 / z - 1.0 / y) * sigma * sigma), jacobian: Some(sigma), ..self }
    }
}

/// Whether runs of a group may diverge: by trial runs, and by criteria where these do not tell.
pub(super) fn divergence(group: &GroupReport, quadratic: bool) -> Option<Warning> {
    let of = |forecast| group.trials.iter().filter(move |trial| trial.forecast == forecast).count();
    let (diverged, diverges) = (of(Forecast::Diverged), of(Forecast::Diverges));
    let tried = group.trials.len();
    let sizes = &group.step_sizes;
    let message = if diverged > 0 {
        Some(format!("{diverged} of {tried} trial runs diverged"))
    } else if diverges > 0 {
        let growth = group.trials.iter().filter_map(|trial| trial.growth).fold(0.0, f64::max);
        Some(format!(
            "{diverges} of {tried} trial runs show growth by a factor of {growth:.5} a round: expect divergence within {} rounds",
            group.rounds
        ))
    } else if !quadratic || of(Forecast::Stable) == tried && tried > 0 {
        // Criteria for quadratics say little elsewhere, and a trial run that sees enough says more.
        None
    } else if let Some(mass) = sizes.coupling.filter(|mass| *mass > 1.0) {
        Some(format!(
            "y moves faster than z, and η_x (1/η_z − 1/η_y) σ_max(J)² = {mass:.2} exceeds 1: expect divergence"
        ))
    } else if let (Some(given), Some(tolerated)) = (sizes.lower, sizes.tolerated_lower.filter(|_| quadratic)) {
        (given > 2.0 * tolerated).then(|| {
            format!("a lower step size of {given} is more than consensus on this network tolerates (about {tolerated:.1e}): expect divergence")
        })
    } else {
        None
    };
    message.map(|message| {
        let advice = if sizes.given.is_some() {
            "take smaller step sizes, steps = \"auto\", or `fabnet tune`"
        } else {
            "give smaller step sizes"
        };
        Warning { group: Some(group.label.clone()), kind: Risk::Divergence, message: format!("{message}; {advice}") }
    })
}

/// The largest smoothness over agents, those of a sample if there are many.
pub(crate) fn smoothness<T: Scalar>(setup: &Setup<T>) -> Smoothness {
    const SAMPLE: usize = 64;
    let problem = &*setup.problem;
    let agents = problem.agents();
    let mut work = Work::default();
    let measured = (0..agents).step_by(agents.div_ceil(SAMPLE)).map(|agent| {
        let (own, x, y) = problem.starting_point(agent);
        Smoothness::measure(&mut Oracle { problem, seed: 0, agent, round: 0, work: &mut work }, &own, &x, &y).to_array()
    });
    Smoothness::from_array(measured.fold([0.0; Smoothness::LEN], |largest, norms| {
        std::array::from_fn(|place| f64::max(largest[place], norms[place]))
    }))
}
