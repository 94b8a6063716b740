//! The penalty direction of FAB.

use super::{Direction, Parts, PartsMut, Sizes, thirds, thirds_mut};
use crate::settings::{Keys, POSITIVE};
use crate::smoothness::usable;
use crate::{Blocks, Dim, Level, Oracle, Scalar, Slopes, Smoothness};

/// Descent in (x, y) and ascent in z of `Lᵢ = fᵢ(x, y) + λ (gᵢ(x, y) − gᵢ(x, z))`: the direction of FAB, and with one agent of F²SA
/// (Kwon, Kwon, Wright, Nowak: *A fully first-order method for stochastic bilevel optimization*, ICML 2023).
///
/// Needs gradients only, gᵢ strongly convex in y on average. y is biased by O(1/λ); y and z should share one step size.
///
/// ```text
/// d_x = ∇ₓf(x,y)/λ + ∇ₓg(x,y) − ∇ₓg(x,z)      d_y = ∇ᵧf(x,y)/λ + ∇ᵧg(x,y)      d_z = ∇ᵧg(x,z)
/// ```
/// That is the gradient of L/λ, with which the paper's published steps make sense; the literal gradient of L is λ times this.
#[derive(Clone, Copy, Debug)]
pub struct Penalty {
    penalty: f64,
    normalised: bool,
}

impl Penalty {
    /// The direction of L/λ for the penalty λ.
    pub fn new(penalty: f64) -> Self {
        Self { penalty, normalised: true }
    }

    /// The direction of L itself.
    pub fn literal(penalty: f64) -> Self {
        Self { penalty, normalised: false }
    }

    /// What users can choose.
    pub fn read(keys: &mut Keys<'_>) -> Self {
        let penalty = keys.number("penalty", 60.0, POSITIVE, "λ: y is biased by O(1/λ)");
        let about = "follow L/λ, as the published steps assume, or with false L itself";
        Self { penalty, normalised: keys.flag("normalised", true, about) }
    }

    /// The factors of f and of g.
    fn factors<T: Scalar>(&self) -> (T, T) {
        if self.normalised { (T::of(1.0 / self.penalty), T::one()) } else { (T::one(), T::of(self.penalty)) }
    }
}

impl<T: Scalar> Direction<T> for Penalty {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner), ("z", dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        let (vx, rest) = v.split_at_mut(x.len());
        vx.copy_from_slice(x);
        rest[..y.len()].copy_from_slice(y);
        rest[y.len()..].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        let (x, y, _) = thirds(dim, v);
        (x, y)
    }

    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        let dim = oracle.problem.dim();
        let (f, g) = self.factors();
        let (x, y, z) = thirds(dim, at.shared);
        d.fill(T::zero());
        let (dx, dy, dz) = thirds_mut(dim, d.shared);
        oracle.add_gradient(Level::Upper, at.own, x, y, Slopes { scale: (f, f), own: d.own, x: dx, y: dy });
        oracle.add_gradient(Level::Lower, at.own, x, y, Slopes { scale: (g, g), own: d.own, x: dx, y: dy });
        oracle.add_gradient(Level::Lower, at.own, x, z, Slopes { scale: (-g, g), own: d.own, x: dx, y: dz });
    }

    fn automatic(&self, smoothness: &Smoothness, setbacks: i32) -> Sizes {
        // With equal steps of y and z, their difference times λ moves as u does in dFAB: the same true steps serve.
        let [x, _, z] = smoothness.difference_steps(setbacks);
        let (f, g): (f64, f64) = self.factors();
        let inner = z * smoothness.g_yy / usable(f * smoothness.f_yy + g * smoothness.g_yy);
        [x / f, inner, inner]
    }
}
