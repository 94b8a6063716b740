//! Automatic step sizes: measured by each agent, agreed on through the largest value seen, and
//! watched over.

use std::ops::Range;

use super::guard::{Guard, publish};
use super::progress::{self, Progress};
use super::schedule::Schedule;
use super::step_plan::StepPlan;
use super::trial::CurvatureBounds;
use crate::direction::{Direction, Parts, StepSizes};
use crate::problem::default_epsilon;
use crate::{Network, Oracle, Problem, ProblemExt, Scalar, Smoothness, linalg};

/// Automatic step sizes: agents find them by themselves.
///
/// At the start each agent measures the smoothness of its own functions; the largest over all
/// agents gives the step sizes. From then on, once a period, the largest ‖tᵢ‖² is agreed on; what
/// rounding errors can make of tᵢ counts as zero. When it exceeds 100 × its best and 1 % of the
/// first, that is a setback: all agents halve them, go back to where each was best and restart the
/// trackers. When there is no new best for several periods the run oscillates: the step sizes are
/// halved as well, without going back. (Under noise that says nothing, and is not done.) A decision
/// falls due when `agreement` rounds have passed since the values were published, so that all
/// agents take it in the same round.
///
/// A node that was cut off and comes back also causes a setback, and then step sizes are not the
/// reason. Therefore sudden setbacks after a quiet time do not halve them, and step sizes that were
/// halved are doubled again as long as that goes well.
///
/// Noise, which is measured as well, shortens step sizes so that it does not throw agents farther
/// than they are from the solution. When they make no more progress, step sizes fall with the
/// inverse of the round, which averages it out.
#[derive(Clone, Debug)]
pub struct Auto {
    agreement: u64,
    period: u64,
    /// Whether gradients may be noisy; how noisy they are is measured.
    noisy: bool,
    /// Whether a model learns from data.
    learns: bool,
    momentum: Option<f64>,
    /// The network on which plans are tried; without one, agents mix once for each step.
    schedule: Option<Schedule>,
}

/// Where [`Auto`] finds its numbers in what agents agree on: the smoothness, then these.
const HALVINGS_WINDOW: usize = Smoothness::LEN;
const HALVINGS: usize = HALVINGS_WINDOW + 1;
const WINDOW: usize = HALVINGS + 1;
const LARGEST: usize = HALVINGS + 2;
/// And these, where gradients may be noisy.
const FALLING: usize = HALVINGS + 3;
const GROWTH_WINDOW: usize = HALVINGS + 4;
const GROWTH: usize = HALVINGS + 5;

impl Auto {
    /// The heavy ball that goes with automatic step sizes, unless gradients may be noisy or a
    /// model learns.
    pub const MOMENTUM: f64 = 0.8;
    /// The lengths of the `Max` segments: what is measured, (window, number of halvings), and
    /// (window, largest ‖tᵢ‖²); where gradients may be noisy also the round from which on step
    /// sizes fall, and (window, growth of the distance).
    const AGREED: [usize; Smoothness::LEN + 4] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 2];
    /// The step sizes of x, u and z times what norms allow: well inside of the limit of 2 for u and
    /// z, because neighbours' disagreement takes its share (on policy evaluation 0.4 is slower in
    /// the median and three times as often very late), and more than 1 for x, because its bound
    /// adds up terms that partly cancel in the hypergradient.
    const CAUTIOUS: [f64; 3] = [4.0, 0.25, 0.25];
    /// The same for models that learn. What they curve by at the start is more than later on, so z
    /// goes to the limit at which values still fall; its answer has flat directions, in which u
    /// would gather noise and x outrun z.
    const LEARNING: [f64; 3] = [0.5, 0.5, 1.25];
    /// The number of agents that measure; of more, every second, third, … one does. What the others
    /// would add to the largest norms, the guard against divergence makes up for.
    const MEASURE: usize = 1000;
    const PERIOD: u64 = 60;
    /// The least number of gradient steps in a period, where agents mix several times for each.
    const STEPS: u64 = 20;
    /// For how many periods it may fail to find a new best, without a trial and after one.
    const PATIENCE: [u64; 2] = [5, 20];

    /// For networks in which information from any agent reaches all within this many rounds (the
    /// connectivity report calls it the spread).
    pub fn new(agreement: u64) -> Self {
        Self {
            agreement,
            period: Self::PERIOD.max(3 * agreement),
            noisy: false,
            learns: false,
            momentum: None,
            schedule: None,
        }
    }

    /// Tries plans on this network, on which the agents will run.
    pub fn on(self, network: Network) -> Self {
        let schedule = Some(Schedule::new(network, self.agreement));
        Self { schedule, ..self }
    }

    /// Tries plain mixing only: messages may be lost, and then acceleration of trackers would lose
    /// what is under way.
    pub fn plainly(self) -> Self {
        Self { schedule: self.schedule.map(Schedule::plainly), ..self }
    }

    /// The same for a problem. A trial asks how soon a solution is found; a model that learns is
    /// never there, so there is no trial for it.
    pub(super) fn for_problem<T: Scalar>(self, problem: &dyn Problem<T>) -> Self {
        let learns = problem.capabilities().model.is_some();
        let auto = Self { noisy: problem.noisy(), learns, ..self };
        if learns { auto.without_trials() } else { auto }
    }

    /// The same without trials, for methods whose recursion differs from that of the trial.
    pub(super) fn without_trials(self) -> Self {
        Self { schedule: None, ..self }
    }

    /// The same with this momentum, which is not tried then.
    pub(super) fn with_momentum(self, momentum: f64) -> Self {
        Self { momentum: Some(momentum), schedule: None, ..self }
    }

    pub(super) fn may_have_momentum(&self) -> bool {
        self.schedule.is_some() || self.cautious_momentum() > 0.0
    }

    pub(super) fn may_accelerate(&self) -> bool {
        self.schedule.as_ref().is_some_and(Schedule::may_accelerate)
    }

    /// The momentum where none is tried.
    fn cautious_momentum(&self) -> f64 {
        self.momentum.unwrap_or(if self.noisy || self.learns { 0.0 } else { Self::MOMENTUM })
    }

    pub(super) fn recovers_within(&self) -> u64 {
        2 * self.period
    }

    /// The lengths of the `Max` segments.
    pub(super) fn agreed(&self) -> &'static [usize] {
        if self.noisy { &Self::AGREED } else { &Self::AGREED[..Smoothness::LEN + 2] }
    }

    pub(super) fn keep(&self, point: usize) -> usize {
        Guard::<f64>::LEN + 2 * point + if self.noisy { progress::kept(point) } else { 0 }
    }

    /// The plan that an agent has decided on, if it has.
    pub(super) fn plan<T: Scalar>(keep: &[T]) -> Option<StepPlan> {
        StepPlan::load(&keep[keep.len() - Guard::<f64>::LEN..])
    }

    /// Starts an epoch; the first time, that includes measuring.
    pub(super) fn begin<T: Scalar>(
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        agreed: &mut [T],
        keep: &mut [T],
        oracle: &mut Oracle<'_, T>,
    ) {
        let mut guard = Guard::new(at, keep);
        guard.progress.iter_mut().for_each(|progress| progress.begin(at));
        *guard.age = T::zero();
        // An agent that joins is counted with the others.
        *guard.window = guard.window.largest(agreed[WINDOW]) + T::one();
        *guard.least = T::infinity();
        *guard.first = T::infinity();
        *guard.stale = T::zero();
        let measures = oracle.agent.is_multiple_of(oracle.problem.agents().div_ceil(Self::MEASURE));
        if measures && agreed[..Smoothness::LEN].iter().all(num_traits::Zero::is_zero) {
            let (x, y) = direction.solution(oracle.problem.dim(), at.shared);
            let smoothness = Smoothness::measure(oracle, at.own, x, y);
            for (slot, norm) in agreed.iter_mut().zip(smoothness.to_array()) {
                *slot = T::of(norm);
            }
        }
    }

    /// Publishes, decides and counts, each in its round; returns the point to go back to, if that
    /// is due.
    pub(super) fn watch<'k, T: Scalar>(
        &self,
        agent: WatchedAgent<'_, T>,
        (direction, blocks): (&dyn Direction<T>, &[Range<usize>]),
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        let WatchedAgent { round, t, d, now } = agent;
        let mut guard = Guard::new(now, keep);
        if guard.age.is_zero() {
            guard.candidate.copy_from(now);
            *guard.halvings = agreed[HALVINGS];
            publish(&mut agreed[WINDOW..=LARGEST], *guard.window, size_beyond_rounding(t, d));
            if let Some(progress) = &mut guard.progress {
                let growth = progress.growth(now, blocks).map_or(T::infinity(), T::of);
                publish(&mut agreed[GROWTH_WINDOW..=GROWTH], *guard.window, growth);
            }
        }
        if *guard.age == T::of(self.agreement as f64) {
            if StepPlan::load(guard.plan).is_none() {
                self.decide(direction, &smoothness(agreed)).store(guard.plan);
            }
            let stopped = guard.progress.is_some() && agreed[GROWTH] < T::of(Progress::<T>::STOPPED);
            if stopped && smoothness(agreed).noise > 0.0 && agreed[FALLING].is_zero() {
                agreed[FALLING] = T::of(round as f64);
            }
            let (largest, halvings) = (agreed[LARGEST], &mut agreed[HALVINGS_WINDOW..=HALVINGS]);
            if !(largest.is_finite() && largest <= guard.bearable(largest)) {
                guard.set_back(halvings);
                return Some(Parts { shared: guard.best.shared, own: guard.best.own });
            }
            guard.go_on(largest, halvings);
            let fruitless = guard.stale.f64() as u64;
            if !self.noisy && fruitless > 0 && fruitless.is_multiple_of(self.patience()) {
                guard.get_unstuck(fruitless / self.patience(), halvings);
            }
        }
        *guard.age += T::one();
        let mixings = StepPlan::load(guard.plan).map_or(1, |plan| plan.mixing.mixings);
        if *guard.age >= T::of(self.period.max(Self::STEPS * mixings) as f64) {
            *guard.age = T::zero();
            *guard.window += T::one();
        }
        None
    }

    fn patience(&self) -> u64 {
        Self::PATIENCE[usize::from(self.schedule.is_some())]
    }

    /// Decides how to step, once all agents know the largest norms.
    pub(super) fn decide<T: Scalar>(&self, direction: &dyn Direction<T>, smoothness: &Smoothness) -> StepPlan {
        let curvature = CurvatureBounds::of(direction, smoothness);
        let multiples = if self.learns { Self::LEARNING } else { Self::CAUTIOUS };
        let plan = match &self.schedule {
            Some(schedule) => schedule.choose(&curvature),
            None => curvature.untried(multiples, self.cautious_momentum()),
        };
        plan.under_noise(smoothness.noise)
    }

    /// Step sizes well inside of what curvature allows, whatever the network is.
    pub fn cautious_sizes<T: Scalar>(direction: &dyn Direction<T>, smoothness: &Smoothness) -> StepSizes {
        direction.step_sizes(smoothness, CurvatureBounds::of(direction, smoothness).untried(Self::CAUTIOUS, 0.0).sizes)
    }

    /// The momentum and the step sizes of a round, after the halvings so far; zeros before they are
    /// decided.
    ///
    /// When x moves too fast for u and z to follow, smaller ones help only if they change the
    /// ratio: each halving is one of the outer step, every third one is of the inner ones as well.
    /// With one level there is no ratio.
    pub(super) fn motion<T: Scalar>(
        direction: &dyn Direction<T>,
        round: u64,
        agreed: &[T],
        keep: &[T],
    ) -> (f64, StepSizes) {
        let Some(plan) = Self::plan(keep) else { return (0.0, [0.0; 3]) };
        let smoothness = smoothness(agreed);
        let halvings = agreed[HALVINGS].f64() as i32;
        let slower = if direction.bound(&smoothness).is_some() { halvings } else { halvings / 3 };
        let [x, u, z] = plan.sizes;
        let falling = agreed.get(FALLING).map_or(0.0, |first| first.f64());
        let fallen = if falling > 0.0 { (falling / round as f64).min(1.0) } else { 1.0 };
        let [outer, inner] = [halvings, slower].map(|times| fallen * 0.5f64.powi(times));
        (plan.momentum, direction.step_sizes(&smoothness, [x * outer, u * inner, z * inner]))
    }
}

/// The largest norms that the agents have measured; one that is no number counts as none.
fn smoothness<T: Scalar>(agreed: &[T]) -> Smoothness {
    let norm = |index: usize| Some(agreed[index].f64()).filter(|norm| norm.is_finite());
    Smoothness::from_array(std::array::from_fn(|index| norm(index).unwrap_or_default()))
}

/// ‖t‖², or zero if rounding errors of the agent's own direction d can be as large: differences of
/// gradients have the precision of d to the power of two thirds.
///
/// A setback restarts the trackers, which moves agents that have arrived away from each other. So
/// noise of the machine must not look like one.
fn size_beyond_rounding<T: Scalar>(t: Parts<'_, T>, d: &[T]) -> T {
    let precision = T::of(10.0) * default_epsilon::<T>() * default_epsilon();
    let size = linalg::norm_squared(t.shared) + linalg::norm_squared(t.own);
    // What is no finite number has diverged, however large d is.
    let is_rounding = size.is_finite() && size <= precision * precision * linalg::norm_squared(d);
    if is_rounding { T::zero() } else { size }
}

/// An agent in a round, as [`Auto::watch`] sees it.
pub(super) struct WatchedAgent<'a, T> {
    pub(super) round: u64,
    /// The tracker of the gradients.
    pub(super) t: Parts<'a, T>,
    /// The agent's own direction, of which the tracker holds the mean.
    pub(super) d: &'a [T],
    /// The point where it is.
    pub(super) now: Parts<'a, T>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tracker that has left the numbers, beside a direction that has as well, once passed for
    /// one that has arrived: the run went on with it.
    #[test]
    fn trackers_count_beyond_rounding_and_whenever_they_are_no_numbers() {
        let size = |t: f64, d: f64| size_beyond_rounding(Parts { shared: &[t], own: &[] }, &[d]);
        assert_eq!([size(1e-3, 1.0), size(1e-12, 1.0), size(0.0, 0.0)], [1e-6, 0.0, 0.0]);
        for broken in [f64::NAN, f64::INFINITY, 1e200] {
            assert!(!size(broken, broken).is_finite() && !size(broken, 1.0).is_finite());
        }
    }
}
