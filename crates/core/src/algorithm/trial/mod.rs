//! The trial: one small model, run on the known schedule of the network, chooses the number of
//! mixings for each step, their order and acceleration, the momentum and the step sizes.

mod model;
mod run;

use self::model::TrialModel;
use self::run::PlanTrial;
use super::Tracker;
use super::step_plan::{Acceleration, MixingPlan, StepPlan};
use crate::direction::Direction;
use crate::problem::usable;
use crate::{Network, Scalar, Smoothness};

/// A way to step, up to scale: step sizes are these multiples of what curvature allows.
#[derive(Clone, Copy, Debug)]
struct StepCandidate {
    momentum: f64,
    /// The inner step size times `L_z`.
    inner: f64,
    /// The outer step size times `L_F/c_z`, or times `Λ/(8 η_z)` if that is larger: how fast x
    /// moves in proportion to z, and to how late z is.
    outer: f64,
    /// The largest outer step size times `f_xx`: how far the network lets x move.
    largest: f64,
    order: Tracker,
}

const fn candidate([momentum, inner, outer, largest]: [f64; 4], order: Tracker) -> StepCandidate {
    StepCandidate { momentum, inner, outer, largest, order }
}

/// What is tried. No single momentum or order wins on all networks: a directed ring wants the
/// tracker from before the last mixing, most others that from after it. Where f depends on x
/// through y alone, x must move slowly: x, z and u are three lags in a loop. Those candidates come
/// last: their trials take longest, and are short once a better plan is known.
const CANDIDATES: [StepCandidate; 12] = [
    candidate([0.0, 0.25, 0.7, 1.2], Tracker::AddThenMix),
    candidate([0.0, 0.5, 0.56, 1.2], Tracker::AddThenMix),
    candidate([0.0, 1.0, 0.42, 1.2], Tracker::AddThenMix),
    candidate([0.5, 0.5, 0.35, 2.0], Tracker::AddThenMix),
    candidate([0.5, 0.8, 0.28, 2.0], Tracker::AddThenMix),
    candidate([0.5, 1.5, 0.28, 2.4], Tracker::AddThenMix),
    candidate([0.8, 0.8, 0.21, 2.0], Tracker::AddThenMix),
    candidate([0.8, 1.5, 0.175, 2.4], Tracker::AddThenMix),
    candidate([0.8, 0.8, 0.15, 2.0], Tracker::MixThenAdd),
    candidate([0.8, 1.5, 0.125, 2.4], Tracker::MixThenAdd),
    candidate([0.5, 0.5, 0.0875, 2.0], Tracker::AddThenMix),
    SLOW,
];

/// Slow x, and no momentum.
const SLOW: StepCandidate = candidate([0.0, 0.5, 0.0875, 1.2], Tracker::AddThenMix);

/// How many times later than a step of its own z may be before x waits for it.
const PATIENT: f64 = 8.0;

/// The curvatures from which step sizes follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CurvatureBounds {
    /// Of a problem with one level.
    Single(f64),
    /// Of a bilevel problem.
    Bilevel(Smoothness),
}

impl CurvatureBounds {
    /// Those that count for a direction.
    pub(super) fn of<T: Scalar>(direction: &dyn Direction<T>, smoothness: &Smoothness) -> Self {
        direction.bound(smoothness).map_or(Self::Bilevel(*smoothness), Self::Single)
    }

    /// The step sizes of x, u and z, without the factor 1 − β.
    fn sizes(&self, candidate: &StepCandidate) -> [f64; 3] {
        match self {
            Self::Single(bound) => [0.0, 0.0, candidate.inner / usable(*bound)],
            Self::Bilevel(smoothness) => {
                let inner = candidate.inner / usable(smoothness.g_yy);
                let late = PATIENT * inner / smoothness.lag.max(f64::MIN_POSITIVE);
                let outer = candidate.outer * late.min(candidate.inner / usable(smoothness.hyper));
                let largest = candidate.largest / smoothness.f_xx.max(f64::MIN_POSITIVE);
                [outer.min(largest), inner, inner]
            }
        }
    }

    /// The gradient steps that the problem takes for a factor of e whatever the network does.
    fn slowness(&self, sizes: &[f64; 3]) -> f64 {
        const LEAST: f64 = 5.0;
        match self {
            Self::Single(_) => LEAST,
            Self::Bilevel(smoothness) => (12.0 / (sizes[0] * usable(smoothness.hyper))).max(LEAST),
        }
    }

    /// The plan without a trial: step sizes of x, u and z that are these multiples of what norms
    /// allow.
    pub(super) fn untried(&self, multiples: [f64; 3], momentum: f64) -> StepPlan {
        let [x, u, z] = multiples.map(|multiple| multiple * (1.0 - momentum));
        let sizes = match self {
            Self::Single(bound) => [0.0, 0.0, z / usable(*bound)],
            Self::Bilevel(smoothness) => {
                let [outer, adjoint, inner] = smoothness.difference_bounds();
                [x / outer, u / adjoint, z / inner]
            }
        };
        StepPlan { mixing: MixingPlan::default(), momentum, sizes, rounds: 0.0 }
    }

    fn model(&self, agents: usize) -> TrialModel {
        match self {
            Self::Single(bound) => TrialModel::single(usable(*bound), agents),
            Self::Bilevel(smoothness) => {
                let usable = Smoothness { g_yy: usable(smoothness.g_yy), ..*smoothness };
                TrialModel::bilevel(&usable, agents)
            }
        }
    }
}

/// Entries of mixing matrices that all trials together may multiply: some seconds.
const WORK: u64 = 400_000_000;

/// The most agents of a trial: a smaller network of the same kind stands for a larger one.
const AGENTS: usize = 1024;
/// The graphs of a trial where the sequence of graphs has no period.
const ROUNDS: u64 = 100;

/// Chooses the plan that needs the fewest rounds for a factor of e. `spread` bounds the number of
/// mixings that can be of use.
pub(super) fn choose(curvature: &CurvatureBounds, network: &Network, spread: u64, accelerates: bool) -> StepPlan {
    let second = (accelerates && network.is_static()).then(|| network.second_eigenvalue());
    let second = second.filter(|second| *second < 0.999_999);
    let shrunk = if network.agents() > AGENTS { network.shrunk(AGENTS) } else { None };
    let (tried, tried_spread) = shrunk.as_ref().map_or((network, spread), |(shrunk, spread)| (shrunk, *spread));
    let model = curvature.model(tried.agents());
    let plan = fallback(curvature, tried_spread);
    let mut search = PlanSearch { spread: tried_spread, accelerates, second, plan };
    let mixings = tried.mixings(ROUNDS);
    let mut trial = PlanTrial::new(&model, &mixings);
    for candidate in &CANDIDATES {
        search.try_candidate(curvature, candidate, &mut trial);
    }
    let mut plan = search.plan;
    // Mixing takes longer in the larger network, by as much as news does. One agent has no news.
    plan.mixing.mixings = (plan.mixing.mixings * spread.max(1)).div_ceil(tried_spread.max(1));
    plan
}

/// The plan for networks on which nothing converges in a trial.
fn fallback(curvature: &CurvatureBounds, spread: u64) -> StepPlan {
    StepPlan { rounds: f64::INFINITY, ..plan(curvature, &SLOW, 4 * spread.max(4), Acceleration::Plain) }
}

fn plan(curvature: &CurvatureBounds, candidate: &StepCandidate, mixings: u64, acceleration: Acceleration) -> StepPlan {
    let sizes = curvature.sizes(candidate).map(|size| size * (1.0 - candidate.momentum));
    let mixing = MixingPlan { mixings, order: candidate.order, acceleration };
    StepPlan { mixing, momentum: candidate.momentum, sizes, rounds: 0.0 }
}

/// The best plan so far.
struct PlanSearch {
    spread: u64,
    accelerates: bool,
    /// The second eigenvalue of a graph that does not change.
    second: Option<f64>,
    plan: StepPlan,
}

impl PlanSearch {
    /// Gradient steps for a factor of e beyond which a trial is given up, if the number of mixings
    /// is one.
    const LONGEST: f64 = 1500.0;
    /// How much better a plan must be to replace another.
    const BETTER: f64 = 0.98;

    fn try_candidate(&mut self, curvature: &CurvatureBounds, candidate: &StepCandidate, trial: &mut PlanTrial<'_>) {
        let slowness = curvature.slowness(&curvature.sizes(candidate));
        let mut mixings = 1;
        while mixings as f64 * (slowness + 1.0) < self.plan.rounds && mixings <= 4 * self.spread.max(4) {
            for acceleration in self.accelerations(mixings) {
                if trial.work > WORK {
                    return;
                }
                let tried = plan(curvature, candidate, mixings, acceleration);
                let limit = (self.plan.rounds / mixings as f64 - slowness).min(Self::LONGEST / (mixings as f64).sqrt());
                let steps = trial.steps(&tried, limit);
                let rounds = mixings as f64 * (steps + slowness);
                if rounds < Self::BETTER * self.plan.rounds && trial.brings_together(&tried, steps) {
                    self.plan = StepPlan { rounds, ..tried };
                }
            }
            mixings = (mixings + 1).max(mixings * 5 / 4);
        }
    }

    /// The accelerations that are worth a trial.
    fn accelerations(&self, mixings: u64) -> impl Iterator<Item = Acceleration> + use<> {
        let window = (self.accelerates && mixings > 3).then_some(Acceleration::Window);
        let chebyshev = self.second.filter(|_| mixings > 1).map(|second| Acceleration::Chebyshev { second });
        [Some(Acceleration::Plain), window, chebyshev].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Topology;
    use crate::topology::{Complete, MixedRadix, OnePeerExponential, Phases, Ring, Undirected};
    use crate::weights::Uniform;

    const BILEVEL: Smoothness = Smoothness {
        f_xx: 0.5,
        f_xy: 0.1,
        f_yy: 1.0,
        g_xx: 1.0,
        g_xy: 0.8,
        g_yy: 1.0,
        hyper: 1.1,
        lag: 3.3,
        noise: 0.0,
    };

    fn network(topology: impl Topology + 'static) -> Network {
        Network::new(Arc::new(topology), Arc::new(Uniform))
    }

    fn chosen(
        curvature: &CurvatureBounds,
        topology: impl Topology + 'static,
        spread: u64,
        accelerates: bool,
    ) -> StepPlan {
        choose(curvature, &network(topology), spread, accelerates)
    }

    #[test]
    fn slow_networks_get_more_mixings_for_each_step() {
        for curvature in [CurvatureBounds::Single(1.0), CurvatureBounds::Bilevel(BILEVEL)] {
            let complete = chosen(&curvature, Complete::new(10), 1, false);
            let ring = chosen(&curvature, Ring::new(20), 19, false);
            assert!(!complete.is_fallback() && !ring.is_fallback());
            assert_eq!(complete.mixing.mixings, 1, "{complete:?}");
            assert!(ring.mixing.mixings > 3, "{ring:?}");
        }
    }

    #[test]
    fn agents_mix_at_least_once_for_each_step_however_few_they_are() {
        for curvature in [CurvatureBounds::Single(1.0), CurvatureBounds::Bilevel(BILEVEL)] {
            for agents in 1..4 {
                let plan = chosen(&curvature, Complete::new(agents), agents as u64 - 1, true);
                assert!(plan.mixing.mixings >= 1, "{agents} agents: {plan:?}");
            }
        }
    }

    /// The first mixings of one-peer exponential graphs wipe out what agents differ by, so a mode
    /// that grows is not excited by agents that begin together.
    #[test]
    fn plans_also_bring_agents_together_that_begin_apart() {
        let policy_evaluation =
            Smoothness { f_xx: 33.66, f_xy: 5.79, f_yy: 1.0, g_xy: 4.97, hyper: 2.81, lag: 3.25, ..BILEVEL };
        let curvature = CurvatureBounds::Bilevel(policy_evaluation);
        for agents in [8, 16, 24, 32, 48] {
            let network = network(OnePeerExponential::new(agents));
            let plan = choose(&curvature, &network, 5, false);
            let (model, mixings) = (curvature.model(agents), network.mixings(ROUNDS));
            assert!(!plan.is_fallback(), "{agents} agents: {plan:?}");
            assert!(PlanTrial::new(&model, &mixings).brings_together(&plan, 100.0), "{agents} agents: {plan:?}");
        }
    }

    #[test]
    fn step_sizes_scale_as_the_inverse_of_curvature() {
        let scaled = BILEVEL.to_array().map(|norm| 4.0 * norm);
        let scaled = Smoothness { lag: BILEVEL.lag, ..Smoothness::from_array(scaled) };
        let plan = |smoothness| chosen(&CurvatureBounds::Bilevel(smoothness), OnePeerExponential::new(8), 3, false);
        let (one, four) = (plan(BILEVEL), plan(scaled));
        assert_eq!(one.mixing, four.mixing);
        for (one, four) in one.sizes.into_iter().zip(four.sizes) {
            assert!((one - 4.0 * four).abs() < 1e-12 * one, "{one} and {four}");
        }
    }

    #[test]
    fn undirected_rings_are_accelerated_by_chebyshev_polynomials_where_that_is_allowed() {
        let ring = || Undirected::new(Box::new(Ring::new(30)));
        let curvature = CurvatureBounds::Bilevel(BILEVEL);
        let accelerated = chosen(&curvature, ring(), 15, true);
        assert!(matches!(accelerated.mixing.acceleration, Acceleration::Chebyshev { .. }), "{accelerated:?}");
        assert_eq!(chosen(&curvature, ring(), 15, false).mixing.acceleration, Acceleration::Plain);
    }

    /// A hundred thousand agents are tried as a thousand: a plan for them is found in a moment, and
    /// it mixes in proportion to the way that news takes.
    #[test]
    fn plans_for_many_agents_are_those_of_fewer_with_mixings_in_proportion() {
        let curvature = CurvatureBounds::Bilevel(BILEVEL);
        let (few, many) = (
            chosen(&curvature, MixedRadix::new(1000), 6, false),
            chosen(&curvature, MixedRadix::new(100_000), 10, false),
        );
        assert!(!few.is_fallback() && !many.is_fallback());
        assert_eq!(many.sizes, few.sizes);
        assert_eq!(many.mixing.mixings, (few.mixing.mixings * 10).div_ceil(6));
    }

    /// Many links make trials dear. Fast candidates come first, so that the work that is allowed
    /// suffices to find a plan.
    #[test]
    fn a_thousand_agents_with_fifty_links_each_have_a_plan() {
        let curvature = CurvatureBounds::Bilevel(Smoothness { hyper: 4.0, ..BILEVEL });
        let plan = chosen(&curvature, Phases::new(1000, 0.05, 0), 22, true);
        assert!(!plan.is_fallback(), "{plan:?}");
    }

    #[test]
    fn there_is_a_plan_where_f_depends_on_x_through_y_alone() {
        for f_xx in [0.0, 0.01, 0.1] {
            let through = Smoothness { f_xx, f_xy: 0.0, f_yy: 1.0, g_xy: 1.0, hyper: 1.0, lag: 1.0, ..BILEVEL };
            for (topology, spread) in
                [(Box::new(Complete::new(3)) as Box<dyn Topology>, 1), (Box::new(Ring::new(10)), 9)]
            {
                let network = Network::new(topology.into(), Arc::new(Uniform));
                let plan = choose(&CurvatureBounds::Bilevel(through), &network, spread, false);
                assert!(!plan.is_fallback(), "f_xx = {f_xx}, {} agents: {plan:?}", network.agents());
            }
        }
    }

    /// Flat functions, or norms that are no numbers, must not end in a panic or an endless search.
    #[test]
    fn degenerate_curvatures_give_a_plan_with_finite_step_sizes() {
        let nothing = Smoothness::default();
        let broken = Smoothness { g_yy: f64::NAN, hyper: f64::INFINITY, ..BILEVEL };
        for curvature in
            [CurvatureBounds::Single(0.0), CurvatureBounds::Bilevel(nothing), CurvatureBounds::Bilevel(broken)]
        {
            let plan = chosen(&curvature, Ring::new(5), 4, true);
            assert!(plan.sizes.iter().all(|size| size.is_finite()), "{curvature:?}: {plan:?}");
        }
    }
}
