//! The hypergradient `∇F*(x)`, by closed form where the problem has one, by solving otherwise.
//!
//! ```text
//! y*(x): Σ ∇ᵧg(x, y*) = 0
//! ∇F*(x) = ∇ₓf − ∇²ₓᵧg v,  ∇²ᵧᵧg v = ∇ᵧf        (all averaged over the agents)
//! ```
//! This is for metrics: it sees all agents at once, as no agent can. It knows shared outer
//! variables only.

use crate::rng::{EVERYONE, Purpose, Stream};
use crate::{GradientMut, Level, Oracle, Problem, Scalar, Work, linalg};

/// What solving needs from call to call: y is where the last one ended, and the next one starts
/// there.
#[derive(Debug)]
pub struct Solver<T> {
    work: Work<T>,
    y: Vec<T>,
    seed: u64,
}

impl<T: Scalar> Solver<T> {
    /// Residual, relative to its size at the start, at which linear solves end.
    const TOLERANCE: f64 = 1e-13;
    const NEWTON_STEPS: usize = 50;
    /// Enough for a few per cent, which is all that a criterion needs.
    const POWER_STEPS: usize = 20;

    /// A solver that starts from y = 0.
    pub fn new(problem: &dyn Problem<T>) -> Self {
        Self::near(vec![T::zero(); problem.dim().inner])
    }

    /// A solver that starts from this y.
    pub fn near(y: Vec<T>) -> Self {
        Self { work: Work::default(), y, seed: 0 }
    }

    /// Solves for `y*(x)`.
    pub fn response(&mut self, problem: &dyn Problem<T>, x: &[T]) -> &[T] {
        if let Some(closed) = problem.capabilities().closed_form {
            closed.response(x, &mut self.y);
            return &self.y;
        }
        let mut y = std::mem::take(&mut self.y);
        let mut slope = vec![T::zero(); y.len()];
        let (mut step, mut trial) = (slope.clone(), y.clone());
        self.average(problem, Level::Lower, x, &y, (&mut [], &mut slope));
        for _ in 0..Self::NEWTON_STEPS {
            let before = linalg::norm(&slope);
            step.fill(T::zero());
            self.solve(problem, x, &y, &slope, &mut step);
            // Far from the solution a full step may overshoot: it is halved until the slope
            // shrinks.
            let mut length = T::one();
            loop {
                linalg::sum_scaled(&mut trial, &y, -length, &step);
                slope.fill(T::zero());
                self.average(problem, Level::Lower, x, &trial, (&mut [], &mut slope));
                length *= T::of(0.5);
                if linalg::norm(&slope) < before || length < T::of(1e-3) {
                    break;
                }
            }
            y.copy_from_slice(&trial);
            if linalg::norm(&step) <= T::epsilon() * T::of(16.0) * (T::one() + linalg::norm(&y)) {
                break;
            }
        }
        self.y = y;
        &self.y
    }

    /// `∇F*(x)`; for a single-level problem, the gradient at x as its inner variable.
    pub fn hypergradient(&mut self, problem: &dyn Problem<T>, x: &[T]) -> Vec<T> {
        let mut out = vec![T::zero(); x.len()];
        if problem.dim().outer == 0 {
            self.average(problem, Level::Lower, &[], x, (&mut [], &mut out));
            return out;
        }
        if let Some(closed) = problem.capabilities().closed_form {
            closed.hypergradient(x, &mut out);
            return out;
        }
        let y = self.response(problem, x).to_vec();
        let mut f_y = vec![T::zero(); y.len()];
        self.average(problem, Level::Upper, x, &y, (&mut out, &mut f_y));
        let v = self.solved(problem, x, &y, &f_y);
        let mut unused = vec![T::zero(); y.len()];
        self.product(problem, x, &y, &v, -T::one(), (&mut out, &mut unused));
        out
    }

    /// The largest singular value of `J = dy*/dx = −(∇²ᵧᵧg)⁻¹ ∇²ᵧₓg` at x, by power iteration on
    /// `JᵀJ`: how strongly the lower level answers.
    pub fn sensitivity(&mut self, problem: &dyn Problem<T>, x: &[T]) -> T {
        let y = self.response(problem, x).to_vec();
        let mut v: Vec<T> = Stream::new(self.seed, EVERYONE, 0, Purpose::Probe).normals(x.len(), 1.0);
        let mut largest = T::zero();
        for _ in 0..Self::POWER_STEPS {
            let length = linalg::norm(&v);
            if !length.is_normal() {
                break;
            }
            linalg::scale(&mut v, length.recip());
            let pushed = self.cross(problem, x, &y, &v);
            let answer = self.solved(problem, x, &y, &pushed);
            largest = linalg::norm(&answer);
            let back = self.solved(problem, x, &y, &answer);
            v.fill(T::zero());
            self.product(problem, x, &y, &back, T::one(), (&mut v, &mut vec![T::zero(); y.len()]));
        }
        largest
    }

    /// `∇²ᵧₓg v`, by central differences of gradients.
    fn cross(&mut self, problem: &dyn Problem<T>, x: &[T], y: &[T], v: &[T]) -> Vec<T> {
        let reach = T::epsilon().cbrt() * (T::one() + linalg::norm(x));
        let [mut ahead, mut behind] = [T::one(), -T::one()].map(|sign| {
            let (mut shifted, mut slope) = (x.to_vec(), vec![T::zero(); y.len()]);
            linalg::add_scaled(&mut shifted, sign * reach, v);
            self.average(problem, Level::Lower, &shifted, y, (&mut [], &mut slope));
            slope
        });
        linalg::scale(&mut ahead, (reach + reach).recip());
        linalg::scale(&mut behind, -(reach + reach).recip());
        linalg::add(&mut ahead, &behind);
        ahead
    }

    fn solved(&mut self, problem: &dyn Problem<T>, x: &[T], y: &[T], b: &[T]) -> Vec<T> {
        let mut v = vec![T::zero(); b.len()];
        self.solve(problem, x, y, b, &mut v);
        v
    }

    /// Solves `∇²ᵧᵧg v = b` by conjugate gradients.
    fn solve(&mut self, problem: &dyn Problem<T>, x: &[T], y: &[T], b: &[T], v: &mut [T]) {
        let mut residual = b.to_vec();
        let mut direction = residual.clone();
        let mut image = vec![T::zero(); b.len()];
        let mut size = linalg::norm_squared(&residual);
        let enough = size * T::of(Self::TOLERANCE * Self::TOLERANCE).max(T::epsilon() * T::epsilon());
        for _ in 0..4 * b.len() {
            if size <= enough || !size.is_normal() {
                break;
            }
            image.fill(T::zero());
            self.product(problem, x, y, &direction, T::one(), (&mut [], &mut image));
            let length = size / linalg::dot(&direction, &image);
            linalg::add_scaled(v, length, &direction);
            linalg::add_scaled(&mut residual, -length, &image);
            let before = std::mem::replace(&mut size, linalg::norm_squared(&residual));
            linalg::scale(&mut direction, size / before);
            linalg::add(&mut direction, &residual);
        }
    }

    fn average(&mut self, problem: &dyn Problem<T>, level: Level, x: &[T], y: &[T], to: (&mut [T], &mut [T])) {
        let share = T::of(1.0 / problem.agents() as f64);
        for agent in 0..problem.agents() {
            let mut oracle = Oracle { problem, seed: self.seed, agent, round: 0, work: &mut self.work };
            oracle.add_gradient(
                level,
                &[],
                x,
                y,
                GradientMut { scale: (share, share), own: &mut [], x: &mut *to.0, y: &mut *to.1 },
            );
        }
    }

    fn product(&mut self, problem: &dyn Problem<T>, x: &[T], y: &[T], v: &[T], factor: T, to: (&mut [T], &mut [T])) {
        let share = factor * T::of(1.0 / problem.agents() as f64);
        let epsilon = super::oracle::default_epsilon::<T>() / linalg::norm(v).max(T::min_positive_value());
        for agent in 0..problem.agents() {
            let mut oracle = Oracle { problem, seed: self.seed, agent, round: 0, work: &mut self.work };
            oracle.add_product(
                &[],
                x,
                y,
                v,
                epsilon,
                GradientMut { scale: (share, share), own: &mut [], x: &mut *to.0, y: &mut *to.1 },
            );
        }
    }
}
