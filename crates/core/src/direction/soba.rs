//! The direction of SOBA.

use super::{Direction, Parts, PartsMut, StepSizes, thirds, thirds_mut};
use crate::problem::default_epsilon;
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness};

/// The lower gradient, the linear system for v and the hypergradient, all moved at once (Dagréou,
/// Ablin, Vaiter, Moreau: *A framework for bilevel optimization that enables stochastic and global
/// variance reduction algorithms*, NeurIPS 2022).
///
/// ```text
/// d_x = ∇ₓf(x,y) − ∇²ₓᵧg(x,y) v      d_y = ∇ᵧg(x,y)      d_v = ∇²ᵧᵧg(x,y) v − ∇ᵧf(x,y)
/// ```
/// Uses exact products where the problem gives them ([`crate::Curvature`]), finite differences
/// otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Soba {
    epsilon: Option<f64>,
}

impl Soba {
    /// With exact products, or differences of the default size.
    pub fn new() -> Self {
        Self::default()
    }

    /// With differences of size ε where there are no exact products.
    pub fn with_epsilon(epsilon: f64) -> Self {
        Self { epsilon: Some(epsilon) }
    }

    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "the size of finite differences, where the problem gives no exact products; the cube root of the machine's precision if not given";
        Self { epsilon: keys.optional_number("epsilon", POSITIVE, about) }
    }
}

impl<T: Scalar> Direction<T> for Soba {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner), ("v", dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        v[..x.len()].copy_from_slice(x);
        v[x.len()..][..y.len()].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        let (x, y, _) = thirds(dim, v);
        (x, y)
    }

    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        let dim = oracle.problem.dim();
        let epsilon = self.epsilon.map_or_else(default_epsilon, T::of);
        let (x, y, v) = thirds(dim, at.shared);
        let one = T::one();
        d.fill(T::zero());
        let (dx, dy, dv) = thirds_mut(dim, d.shared);
        oracle.add_gradient(Level::Upper, at.own, x, y, GradientMut { scale: (one, -one), own: d.own, x: dx, y: dv });
        oracle.add_product(at.own, x, y, v, epsilon, GradientMut { scale: (-one, one), own: d.own, x: dx, y: dv });
        oracle.add_gradient(
            Level::Lower,
            at.own,
            x,
            y,
            GradientMut { scale: (one, one), own: &mut [], x: &mut [], y: dy },
        );
    }

    fn step_sizes(&self, _smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        sizes
    }
}
