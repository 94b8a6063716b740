//! The penalty direction of FAB.

use super::{Direction, Parts, PartsMut, StepSizes, start_twice, thirds, thirds_mut};
use crate::problem::usable;
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness};

/// Descent in (x, y) and ascent in z of `Lᵢ = fᵢ(x, y) + λ (gᵢ(x, y) − gᵢ(x, z))`: the direction of
/// FAB, and with one agent of F²SA (Kwon, Kwon, Wright, Nowak: *A fully first-order method for
/// stochastic bilevel optimization*, ICML 2023).
///
/// Needs gradients only, gᵢ strongly convex in y on average. y is biased by O(1/λ); y and z should
/// share one step size.
///
/// ```text
/// d_x = ∇ₓf(x,y)/λ + ∇ₓg(x,y) − ∇ₓg(x,z)      d_y = ∇ᵧf(x,y)/λ + ∇ᵧg(x,y)      d_z = ∇ᵧg(x,z)
/// ```
/// That is the gradient of L/λ, with which the paper's published step sizes make sense; the literal
/// gradient of L is λ times this.
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

    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let penalty = keys.number("penalty", 60.0, POSITIVE, "λ: y is biased by O(1/λ)");
        let about = "follow L/λ, as the published step sizes assume, or with false L itself";
        Self { penalty, normalised: keys.flag("normalised", true, about) }
    }

    /// The factors of f and of g in the direction.
    fn factors<T: Scalar>(&self) -> (T, T) {
        if self.normalised { (T::of(1.0 / self.penalty), T::one()) } else { (T::one(), T::of(self.penalty)) }
    }
}

impl<T: Scalar> Direction<T> for Penalty {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner), ("z", dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        start_twice(x, y, v);
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
        oracle.add_gradient(Level::Upper, at.own, x, y, GradientMut { scale: (f, f), own: d.own, x: dx, y: dy });
        oracle.add_gradient(Level::Lower, at.own, x, y, GradientMut { scale: (g, g), own: d.own, x: dx, y: dy });
        oracle.add_gradient(Level::Lower, at.own, x, z, GradientMut { scale: (-g, g), own: d.own, x: dx, y: dz });
    }

    fn step_sizes(&self, smoothness: &Smoothness, [x, _, z]: StepSizes) -> StepSizes {
        // With equal step sizes of y and z, their difference times λ moves as u does in dFAB: the
        // same true step sizes serve.
        let (f, g): (f64, f64) = self.factors();
        let inner = z * smoothness.g_yy / usable(f * smoothness.f_yy + g * smoothness.g_yy);
        [x / f, inner, inner]
    }
}
