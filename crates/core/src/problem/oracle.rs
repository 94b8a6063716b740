//! The oracle: one agent's access to its own functions, with every evaluation counted.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::derived::ProblemExt;
use super::point::{GradientMut, Level, Objective, Point};
use super::scratch::Scratch;
use crate::{Problem, Scalar, linalg};

/// One agent's functions in one round.
pub struct Oracle<'a, T: Scalar> {
    /// The problem of which one agent's part is evaluated.
    pub problem: &'a dyn Problem<T>,
    /// The seed of the run.
    pub seed: u64,
    /// The agent whose functions are evaluated.
    pub agent: usize,
    /// The round, which with the agent names the batch and the noise.
    pub round: u64,
    /// Counters and buffers, kept from call to call.
    pub work: &'a mut Work<T>,
}

/// The oracle's counters and buffers.
#[derive(Debug, Default)]
pub struct Work<T> {
    /// The evaluations so far.
    pub evaluations: Evaluations,
    timing: Option<Timing>,
    scratch: Scratch<T>,
    shifted: Vec<T>,
    shifted_outer: Vec<T>,
    selection: Vec<f64>,
}

/// The time since some moment, from a clock that is handed in.
pub type Timer = Arc<dyn Fn() -> Duration + Send + Sync>;

/// How long evaluations take.
struct Timing {
    now: Timer,
    spent: Duration,
}

impl fmt::Debug for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timing").field("spent", &self.spent).finish_non_exhaustive()
    }
}

impl<T> Work<T> {
    /// Measures from now on how long evaluations take.
    pub fn measure_time(&mut self, now: Timer) {
        self.timing = Some(Timing { now, spent: self.time() });
    }

    /// The time that evaluations have taken since it is measured.
    pub fn time(&self) -> Duration {
        self.timing.as_ref().map_or(Duration::ZERO, |timing| timing.spent)
    }

    /// Evaluates with the buffers, and measures how long that takes if anybody wants to know.
    fn evaluate(&mut self, evaluation: impl FnOnce(&mut Scratch<T>)) {
        let begun = self.timing.as_ref().map(|timing| (timing.now)());
        evaluation(&mut self.scratch);
        if let (Some(timing), Some(begun)) = (&mut self.timing, begun) {
            timing.spent += (timing.now)().saturating_sub(begun);
        }
    }
}

/// The number of evaluations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluations {
    /// The gradients of f.
    pub upper: u64,
    /// The gradients of g.
    pub lower: u64,
    /// The exact second-order products.
    pub products: u64,
}

impl<'a, T: Scalar> Oracle<'a, T> {
    /// The functions of an agent in a round of a run with this seed.
    pub fn new(problem: &'a dyn Problem<T>, seed: u64, agent: usize, round: u64, work: &'a mut Work<T>) -> Self {
        Self { problem, seed, agent, round, work }
    }

    /// Adds the scaled gradient of `fᵢ` or `gᵢ` at (own, x, y).
    pub fn add_gradient(&mut self, level: Level, own: &[T], x: &[T], y: &[T], to: GradientMut<'_, T>) {
        self.count(level);
        let at = Point { agent: self.agent, round: self.round, own, x, y };
        let problem = self.problem;
        self.work.evaluate(|scratch| problem.add_gradient(level, at, to, scratch));
    }

    /// Adds the gradient in y of a single-level objective at (own, x, y).
    pub fn add_objective(&mut self, objective: Objective, own: &[T], x: &[T], y: &[T], to: &mut [T]) {
        for level in objective.levels() {
            self.count(*level);
        }
        let at = Point { agent: self.agent, round: self.round, own, x, y };
        let problem = self.problem;
        self.work.evaluate(|scratch| problem.add_objective(objective, at, T::one(), to, scratch));
    }

    /// A buffer for numbers among which a method chooses.
    pub(crate) fn selection(&mut self) -> &mut Vec<f64> {
        &mut self.work.selection
    }

    fn count(&mut self, level: Level) {
        match level {
            Level::Upper => self.work.evaluations.upper += 1,
            Level::Lower => self.work.evaluations.lower += 1,
        }
    }

    /// Adds the scaled products of g's second derivatives with v, by central differences of
    /// gradients: `[∇g(x, y+εv) − ∇g(x, y−εv)] / 2ε`.
    pub fn add_difference(&mut self, own: &[T], x: &[T], y: &[T], v: &[T], epsilon: T, to: GradientMut<'_, T>) {
        let mut shifted = std::mem::take(&mut self.work.shifted);
        shifted.resize(y.len(), T::zero());
        for sign in [T::one(), -T::one()] {
            linalg::sum_scaled(&mut shifted, y, sign * epsilon, v);
            let factor = sign / (epsilon + epsilon);
            let scale = (to.scale.0 * factor, to.scale.1 * factor);
            self.add_gradient(Level::Lower, own, x, &shifted, GradientMut { scale, own: to.own, x: to.x, y: to.y });
        }
        self.work.shifted = shifted;
    }

    /// Adds the change of g's scaled gradient along coordinate j of x and, at once, v in y, by
    /// central differences: `[∇g(x+εeⱼ, y+εv) − ∇g(x−εeⱼ, y−εv)] / 2ε`.
    pub fn add_joint_difference(
        &mut self,
        own: &[T],
        x: &[T],
        y: &[T],
        (j, v): (usize, &[T]),
        epsilon: T,
        to: GradientMut<'_, T>,
    ) {
        let mut shifted = std::mem::take(&mut self.work.shifted_outer);
        shifted.clear();
        shifted.extend_from_slice(x);
        let mut ahead = std::mem::take(&mut self.work.shifted);
        ahead.resize(y.len(), T::zero());
        for sign in [T::one(), -T::one()] {
            shifted[j] = x[j] + sign * epsilon;
            linalg::sum_scaled(&mut ahead, y, sign * epsilon, v);
            let factor = sign / (epsilon + epsilon);
            let scale = (to.scale.0 * factor, to.scale.1 * factor);
            let to = GradientMut { scale, own: &mut *to.own, x: &mut *to.x, y: &mut *to.y };
            self.add_gradient(Level::Lower, own, &shifted, &ahead, to);
        }
        (self.work.shifted, self.work.shifted_outer) = (ahead, shifted);
    }

    /// Adds the products of [`Oracle::add_difference`] exactly where the problem has them, by
    /// differences otherwise.
    pub fn add_product(&mut self, own: &[T], x: &[T], y: &[T], v: &[T], epsilon: T, to: GradientMut<'_, T>) {
        match self.problem.capabilities().curvature {
            Some(curvature) => {
                self.work.evaluations.products += 1;
                let at = Point { agent: self.agent, round: self.round, own, x, y };
                self.work.evaluate(|scratch| curvature.add_product(at, v, to, scratch));
            }
            None => self.add_difference(own, x, y, v, epsilon, to),
        }
    }
}

impl Evaluations {
    /// The gradients of both levels.
    pub fn gradients(self) -> u64 {
        self.upper + self.lower
    }
}

impl std::ops::AddAssign for Evaluations {
    fn add_assign(&mut self, other: Self) {
        self.upper += other.upper;
        self.lower += other.lower;
        self.products += other.products;
    }
}

/// The size of finite differences, where none is given: the cube root of the machine's precision
/// balances rounding and truncation.
pub(crate) fn default_epsilon<T: Scalar>() -> T {
    T::epsilon().cbrt()
}
