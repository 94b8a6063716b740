//! The difference direction of dFAB.

use super::{Direction, Parts, PartsMut, StepSizes, thirds, thirds_mut};
use crate::problem::default_epsilon;
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness};

/// SOBA (Dagréou, Ablin, Vaiter, Moreau: *A framework for bilevel optimization that enables
/// stochastic and global variance reduction algorithms*, NeurIPS 2022) with curvature by
/// differences of gradients and u = −v: first order, no Hessian products.
///
/// It is also FAB in the limit of an infinite penalty: u = λ(y − z) evolves itself, so there is
/// neither a penalty bias nor a difference of large numbers.
///
/// ```text
/// d_x = ∇ₓf(x,z) + [∇ₓg(x,z+εu) − ∇ₓg(x,z−εu)]/2ε
/// d_u = ∇ᵧf(x,z) + [∇ᵧg(x,z+εu) − ∇ᵧg(x,z−εu)]/2ε          d_z = ∇ᵧg(x,z)
/// ```
/// The messages are as large as FAB's. The floor of ‖∇F*‖² is of order ε⁴.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    epsilon: Option<f64>,
}

impl Difference {
    /// Differences of the default size.
    pub fn new() -> Self {
        Self::default()
    }

    /// Differences of size ε.
    pub fn with_epsilon(epsilon: f64) -> Self {
        Self { epsilon: Some(epsilon) }
    }

    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "the size of the finite differences; the cube root of the machine's precision if not given";
        Self { epsilon: keys.optional_number("epsilon", POSITIVE, about) }
    }
}

impl<T: Scalar> Direction<T> for Difference {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("u", dim.inner), ("z", dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        let z = v.len() - y.len();
        v[..x.len()].copy_from_slice(x);
        v[z..].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        let (x, _, z) = thirds(dim, v);
        (x, z)
    }

    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        let dim = oracle.problem.dim();
        let epsilon = self.epsilon.map_or_else(default_epsilon, T::of);
        let (x, u, z) = thirds(dim, at.shared);
        let one = T::one();
        d.fill(T::zero());
        let (dx, du, dz) = thirds_mut(dim, d.shared);
        oracle.add_gradient(Level::Upper, at.own, x, z, GradientMut { scale: (one, one), own: d.own, x: dx, y: du });
        oracle.add_difference(at.own, x, z, u, epsilon, GradientMut { scale: (one, one), own: d.own, x: dx, y: du });
        oracle.add_gradient(
            Level::Lower,
            at.own,
            x,
            z,
            GradientMut { scale: (one, one), own: &mut [], x: &mut [], y: dz },
        );
    }

    fn step_sizes(&self, _smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        sizes
    }
}
