//! How noisy one agent's gradients are, found by the agent itself.

use super::derived::ProblemExt;
use super::oracle::Oracle;
use super::point::{GradientMut, Level};
use crate::{Scalar, linalg};

/// The rounds whose gradients are compared. The ratio cannot be told to be larger than the root of
/// their number.
const ROUNDS: u64 = 32;

/// The standard deviation over rounds of the gradients ∇f and ∇ᵧg at one point, divided by the
/// length of their mean; exactly 0 where gradients are the same in every round.
pub(super) fn relative_noise<T: Scalar>(oracle: &mut Oracle<'_, T>, own: &[T], x: &[T], y: &[T]) -> f64 {
    if !oracle.problem.noisy() {
        return 0.0;
    }
    let now = oracle.round;
    let width = x.len() + own.len() + 2 * y.len();
    let (mut sample, mut sum, mut change) = (vec![T::zero(); width], vec![T::zero(); width], vec![T::zero(); width]);
    // Half of the squared change from one round to the next has the variance as its mean.
    let mut changes = 0.0;
    for round in 0..ROUNDS {
        oracle.round = now + round;
        change.copy_from_slice(&sample);
        sample.fill(T::zero());
        add_gradients(oracle, own, x, y, &mut sample);
        linalg::add(&mut sum, &sample);
        if round > 0 {
            linalg::add_scaled(&mut change, -T::one(), &sample);
            changes += linalg::norm_squared(&change).f64();
        }
    }
    oracle.round = now;
    let deviation = (0.5 * changes / (ROUNDS - 1) as f64).sqrt();
    let mean = linalg::norm(&sum).f64() / ROUNDS as f64;
    if deviation == 0.0 { 0.0 } else { deviation / mean.max(f64::MIN_POSITIVE) }
}

/// Adds ∇f and ∇ᵧg, one after the other.
fn add_gradients<T: Scalar>(oracle: &mut Oracle<'_, T>, own: &[T], x: &[T], y: &[T], to: &mut [T]) {
    let scale = (T::one(), T::one());
    let (by_x, rest) = to.split_at_mut(x.len());
    let (by_own, rest) = rest.split_at_mut(own.len());
    let (upper, lower) = rest.split_at_mut(y.len());
    oracle.add_gradient(Level::Upper, own, x, y, GradientMut { scale, own: by_own, x: by_x, y: upper });
    oracle.add_gradient(Level::Lower, own, x, y, GradientMut { scale, own: &mut [], x: &mut [], y: lower });
}

#[cfg(test)]
mod tests {
    use super::super::{Capabilities, Dim, Point, Problem, Scratch, Work};
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// ∇f = 3 in x, ∇ᵧg = (4, 0), and normal noise of this size in each coordinate.
    struct Steady(f64);

    impl Problem<f64> for Steady {
        fn agents(&self) -> usize {
            1
        }

        fn dim(&self) -> Dim {
            Dim { outer: 1, inner: 2 }
        }

        fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
            let purpose = if level == Level::Upper { Purpose::Probe } else { Purpose::Noise };
            let noise: Vec<f64> = Stream::new(0, 0, at.round, purpose).normals(3, self.0);
            let (x, y) = if level == Level::Upper { (3.0, 0.0) } else { (0.0, 4.0) };
            to.x.iter_mut().for_each(|to| *to += x + noise[0]);
            to.y.iter_mut().zip([y + noise[1], noise[2]]).for_each(|(to, from)| *to += from);
        }

        fn value(&self, _: Level, _: Point<'_, f64>) -> f64 {
            0.0
        }

        fn capabilities(&self) -> Capabilities<'_, f64> {
            Capabilities { noisy: true, ..Capabilities::default() }
        }
    }

    fn measured(noise: f64) -> f64 {
        let (problem, mut work) = (Steady(noise), Work::default());
        relative_noise(&mut Oracle::new(&problem, 7, 0, 5, &mut work), &[], &[0.1], &[0.2, 0.3])
    }

    #[test]
    fn the_deviation_is_compared_with_the_mean() {
        // Five coordinates, and gradients of length 5 together.
        let expected = 0.4 * 5.0f64.sqrt() / 5.0;
        let found = measured(0.4);
        assert!((found / expected - 1.0).abs() < 0.2, "{found} instead of {expected}");
        assert!(measured(1e3) < (1.5 * ROUNDS as f64).sqrt(), "the mean of noise is not zero");
    }

    #[test]
    fn gradients_that_only_may_be_noisy_have_no_noise() {
        assert_eq!(measured(0.0), 0.0);
    }
}
