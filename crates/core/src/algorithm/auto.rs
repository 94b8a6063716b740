//! Automatic step sizes: measured by each agent, agreed on through the largest value seen, and
//! watched over.

use super::schedule::Schedule;
use super::step_plan::StepPlan;
use super::trial::CurvatureBounds;
use crate::direction::{Direction, Parts, PartsMut, StepSizes};
use crate::{Network, Oracle, Problem, ProblemExt, Scalar, Smoothness, linalg};

/// Automatic step sizes: agents find them by themselves.
///
/// At the start each agent measures the smoothness of its own functions; the largest over all
/// agents gives the step sizes. From then on, once a period, the largest ‖tᵢ‖² is agreed on. When
/// it exceeds 100 × its best, that is a setback: all agents shorten them, go back to where each was
/// best and restarts the trackers. When there is no new best for five periods the run oscillates:
/// the step sizes are shortened as well, without going back. (Under noise that says nothing, and is
/// not done.) A decision falls due when `agreement` rounds have passed since the values were
/// published, so that all agents take it in the same round.
#[derive(Clone, Debug)]
pub struct Auto {
    agreement: u64,
    period: u64,
    noisy: bool,
    momentum: Option<f64>,
    /// The network on which plans are tried; without one, agents mix once for each step.
    schedule: Option<Schedule>,
}

/// Where [`Auto`] finds its numbers in what agents agree on: the smoothness, then these.
const SETBACKS: usize = Smoothness::LEN;
const WINDOW: usize = SETBACKS + 1;
const LARGEST: usize = SETBACKS + 2;
/// And in what an agent keeps, after two points (the best one and the candidate) and the plan.
const SCALARS: usize = 4;

impl Auto {
    /// The heavy ball that goes with automatic step sizes, unless gradients are noisy.
    pub const MOMENTUM: f64 = 0.8;
    /// The lengths of the `Max` segments: eight norms, the number of setbacks, and (window, largest
    /// ‖tᵢ‖²).
    pub(super) const AGREED: [usize; Smoothness::LEN + 2] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2];
    /// The number of agents that measure; of more, every second, third, … one does. What the others
    /// would add to the largest norms, the guard against divergence makes up for.
    const MEASURE: usize = 1000;
    const PERIOD: u64 = 60;
    /// The least number of gradient steps in a period, where agents mix several times for each.
    const STEPS: u64 = 20;
    /// How much worse than its best the monitor may become.
    const TOLERANCE: f64 = 100.0;
    /// For how many periods it may fail to find a new best.
    const PATIENCE: f64 = 5.0;

    /// For networks in which information from any agent reaches all within this many rounds (the
    /// connectivity report calls it the spread).
    pub fn new(agreement: u64) -> Self {
        Self { agreement, period: Self::PERIOD.max(3 * agreement), noisy: false, momentum: None, schedule: None }
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

    /// The same for a problem. The model of trials has exact gradients: where they are noisy, there
    /// are no trials.
    pub(super) fn for_problem<T: Scalar>(self, problem: &dyn Problem<T>) -> Self {
        let auto = Self { noisy: problem.noisy(), ..self };
        if auto.noisy { auto.without_trials() } else { auto }
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
        self.momentum.unwrap_or(if self.noisy { 0.0 } else { Self::MOMENTUM })
    }

    pub(super) fn recovers_within(&self) -> u64 {
        2 * self.period
    }

    pub(super) const fn keep(point: usize) -> usize {
        2 * point + StepPlan::LEN + SCALARS
    }

    /// The plan that an agent has decided on, if it has.
    pub(super) fn plan<T: Scalar>(keep: &[T]) -> Option<StepPlan> {
        StepPlan::load(&keep[keep.len() - SCALARS - StepPlan::LEN..])
    }

    /// Starts an epoch; the first time, that includes measuring.
    pub(super) fn begin<T: Scalar>(
        direction: &dyn Direction<T>,
        at: Parts<'_, T>,
        agreed: &mut [T],
        keep: &mut [T],
        oracle: &mut Oracle<'_, T>,
    ) {
        let guard = Guard::new(at, keep);
        *guard.age = T::zero();
        *guard.window += T::one();
        *guard.least = T::infinity();
        *guard.stale = T::zero();
        let measures = oracle.agent.is_multiple_of(oracle.problem.agents().div_ceil(Self::MEASURE));
        if measures && agreed[..SETBACKS].iter().all(num_traits::Zero::is_zero) {
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
        direction: &dyn Direction<T>,
        t: Parts<'_, T>,
        now: Parts<'_, T>,
        agreed: &mut [T],
        keep: &'k mut [T],
    ) -> Option<Parts<'k, T>> {
        let mut guard = Guard::new(now, keep);
        if guard.age.is_zero() {
            guard.candidate.copy_from(now);
            let size = linalg::norm_squared(t.shared) + linalg::norm_squared(t.own);
            if agreed[WINDOW] < *guard.window {
                (agreed[WINDOW], agreed[LARGEST]) = (*guard.window, size);
            } else {
                agreed[LARGEST] = agreed[LARGEST].largest(size);
            }
        }
        if *guard.age == T::of(self.agreement as f64) {
            if StepPlan::load(guard.plan).is_none() {
                self.decide(direction, &smoothness(agreed)).store(guard.plan);
            }
            let largest = agreed[LARGEST];
            if !(largest.is_finite() && largest <= T::of(Self::TOLERANCE) * *guard.least) {
                agreed[SETBACKS] += T::one();
                return Some(Parts { shared: guard.best.shared, own: guard.best.own });
            }
            *guard.stale += T::one();
            if largest < *guard.least {
                *guard.least = largest;
                *guard.stale = T::zero();
                guard.best.copy_from(guard.candidate.as_ref());
            } else if !self.noisy && self.schedule.is_none() && *guard.stale >= T::of(Self::PATIENCE) {
                *guard.stale = T::zero();
                agreed[SETBACKS] += T::one();
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

    /// Decides how to step, once all agents know the largest norms.
    pub(super) fn decide<T: Scalar>(&self, direction: &dyn Direction<T>, smoothness: &Smoothness) -> StepPlan {
        let curvature = CurvatureBounds::of(direction, smoothness);
        match &self.schedule {
            Some(schedule) => schedule.choose(&curvature),
            None => curvature.cautious(self.cautious_momentum()),
        }
    }

    /// Step sizes well inside of what curvature allows, whatever the network is.
    pub fn cautious_sizes<T: Scalar>(direction: &dyn Direction<T>, smoothness: &Smoothness) -> StepSizes {
        direction.step_sizes(smoothness, CurvatureBounds::of(direction, smoothness).cautious(0.0).sizes)
    }

    /// The momentum and the step sizes of a round, after the setbacks so far; zeros before they are
    /// decided.
    ///
    /// When x moves too fast for u and z to follow, smaller ones help only if they change the
    /// ratio: a setback halves the outer step, every third one the inner ones as well. With one
    /// level there is no ratio.
    pub(super) fn motion<T: Scalar>(direction: &dyn Direction<T>, agreed: &[T], keep: &[T]) -> (f64, StepSizes) {
        let Some(plan) = Self::plan(keep) else { return (0.0, [0.0; 3]) };
        let smoothness = smoothness(agreed);
        let setbacks = agreed[SETBACKS].f64() as i32;
        let slower = if direction.bound(&smoothness).is_some() { setbacks } else { setbacks / 3 };
        let [x, u, z] = plan.sizes;
        let [outer, inner] = [setbacks, slower].map(|times| 0.5f64.powi(times));
        (plan.momentum, direction.step_sizes(&smoothness, [x * outer, u * inner, z * inner]))
    }
}

/// The largest norms that the agents have measured; one that is no number counts as none.
fn smoothness<T: Scalar>(agreed: &[T]) -> Smoothness {
    let norm = |index: usize| Some(agreed[index].f64()).filter(|norm| norm.is_finite());
    Smoothness::from_array(std::array::from_fn(|index| norm(index).unwrap_or_default()))
}

/// What an agent keeps to be able to go back.
struct Guard<'k, T> {
    best: PartsMut<'k, T>,
    candidate: PartsMut<'k, T>,
    /// What was decided, in the form of [`StepPlan::store`].
    plan: &'k mut [T],
    /// Rounds since the current window of the agreement began.
    age: &'k mut T,
    /// The number of the window, over all epochs.
    window: &'k mut T,
    /// The smallest monitor of this epoch so far.
    least: &'k mut T,
    /// Periods since it was found, or since step sizes were shortened.
    stale: &'k mut T,
}

impl<'k, T> Guard<'k, T> {
    fn new(like: Parts<'_, T>, keep: &'k mut [T]) -> Self {
        let (best, rest) = keep.split_at_mut(like.shared.len() + like.own.len());
        let (candidate, rest) = rest.split_at_mut(best.len());
        let (plan, scalars) = rest.split_at_mut(StepPlan::LEN);
        let [age, window, least, stale] = scalars else { unreachable!("the guard's scalars are kept last") };
        let parts = |point: &'k mut [T]| {
            let (shared, own) = point.split_at_mut(like.shared.len());
            PartsMut { shared, own }
        };
        Self { best: parts(best), candidate: parts(candidate), plan, age, window, least, stale }
    }
}
