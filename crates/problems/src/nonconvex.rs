//! A nonconvex single-level problem.

use fabnet_core::rng::{Purpose, Stream};
use fabnet_core::{Dim, GradientMut, Level, Point, Problem, Scalar, Scratch, linalg};

/// `gᵢ(y) = (1 + ‖y − cᵢ‖²)^−0.1` in the plane: smooth, bounded below, without a minimum. Gradients
/// vanish slowly, so the rate of push-pull shows.
#[derive(Clone, Debug)]
pub struct Nonconvex<T> {
    centres: Vec<[T; 2]>,
}

impl<T: Scalar> Nonconvex<T> {
    const POWER: f64 = -0.1;

    /// A problem whose centres are drawn from a seed.
    pub fn new(agents: usize, seed: u64) -> Self {
        let centre = |agent| {
            let (first, second) = Stream::new(seed, agent, 0, Purpose::Data).normal_pair();
            [T::of(first), T::of(second)]
        };
        Self { centres: (0..agents).map(centre).collect() }
    }

    /// The base `1 + ‖y − c‖²` of the power.
    fn base(&self, at: Point<'_, T>) -> T {
        T::one() + linalg::distance_squared(at.y, &self.centres[at.agent])
    }
}

impl<T: Scalar> Problem<T> for Nonconvex<T> {
    fn agents(&self) -> usize {
        self.centres.len()
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 2 }
    }

    fn start(&self, _agent: usize, _own: &mut [T], _x: &mut [T], y: &mut [T]) {
        y.fill(T::of(1.5));
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        if level == Level::Lower {
            let factor = to.scale.1 * T::of(2.0 * Self::POWER) * self.base(at).powf(T::of(Self::POWER - 1.0));
            for ((out, &y), &c) in to.y.iter_mut().zip(at.y).zip(&self.centres[at.agent]) {
                *out += factor * (y - c);
            }
        }
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        match level {
            Level::Upper => T::zero(),
            Level::Lower => self.base(at).powf(T::of(Self::POWER)),
        }
    }
}
