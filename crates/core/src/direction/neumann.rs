//! The direction of HGP: the lower gradient, and terms of a Neumann series.

use super::{Direction, Parts, PartsMut, StepSizes};
use crate::problem::default_epsilon;
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness};

/// The gradient of the lower level, and the hypergradient as a Neumann series (Lorraine, Vicol,
/// Duvenaud: *Optimizing millions of hyperparameters by implicit differentiation*, AISTATS 2020).
///
/// ```text
/// d_y = ∇ᵧg(x,y)      h = ∇ₓf(x,y) − δ Σₘ ∇²ₓᵧg(x,y) wₘ
/// w₀ = ∇ᵧf(x,y)       wₘ₊₁ = wₘ − δ ∇²ᵧᵧg(x,y) wₘ
/// ```
/// Terms are put together over several rounds, because each of them is averaged over all agents.
/// Uses exact products where the problem gives them ([`crate::Curvature`]), finite differences
/// otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neumann {
    epsilon: Option<f64>,
}

impl Neumann {
    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "the size of finite differences, where the problem gives no exact products; the cube root of the machine's precision if not given";
        Self { epsilon: keys.optional_number("epsilon", POSITIVE, about) }
    }

    /// Begins a series at a point: writes `h = ∇ₓf` and returns `∇ᵧf` in w.
    pub(crate) fn begin<T: Scalar>(at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut h: PartsMut<'_, T>, w: &mut [T]) {
        let (x, y) = at.shared.split_at(oracle.problem.dim().outer);
        let scale = (T::one(), T::one());
        h.fill(T::zero());
        w.fill(T::zero());
        oracle.add_gradient(Level::Upper, at.own, x, y, GradientMut { scale, own: h.own, x: h.shared, y: w });
    }

    /// Adds the term of w to h, and writes the next w.
    pub(crate) fn add_term<T: Scalar>(
        self,
        (at, w, damping): (Parts<'_, T>, &[T], T),
        oracle: &mut Oracle<'_, T>,
        h: PartsMut<'_, T>,
        next: &mut [T],
    ) {
        let (x, y) = at.shared.split_at(oracle.problem.dim().outer);
        let epsilon = self.epsilon.map_or_else(default_epsilon, T::of);
        next.copy_from_slice(w);
        let to = GradientMut { scale: (-damping, -damping), own: h.own, x: h.shared, y: next };
        oracle.add_product(at.own, x, y, w, epsilon, to);
    }
}

impl<T: Scalar> Direction<T> for Neumann {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        v[..x.len()].copy_from_slice(x);
        v[x.len()..].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        v.split_at(dim.outer)
    }

    /// That of y alone: x moves by a whole series.
    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        let outer = oracle.problem.dim().outer;
        let (x, y) = at.shared.split_at(outer);
        d.fill(T::zero());
        let to = GradientMut { scale: (T::one(), T::one()), own: &mut [], x: &mut [], y: &mut d.shared[outer..] };
        oracle.add_gradient(Level::Lower, at.own, x, y, to);
    }

    /// HGP has no automatic step sizes; these are a start for who looks for them.
    fn step_sizes(&self, _smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        sizes
    }
}
