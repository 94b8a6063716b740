//! The direction of MEHA and SUN-DSBO.

use super::{Direction, Parts, PartsMut, StepSizes, start_twice, thirds, thirds_mut};
use crate::problem::usable;
use crate::settings::{POSITIVE, SettingsReader};
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness, linalg};

/// A penalty on what g(x, y) exceeds its Moreau envelope in y by, which is smooth although g may
/// be nonconvex in y (MEHA: Liu, Liu, Yao, Zeng, Zhang: *Moreau envelope for nonconvex bi-level
/// optimization*, ICML 2024; over networks SUN-DSBO, arXiv 2601.22682).
///
/// ```text
/// d_x = ∇ₓf(x,y)/c + ∇ₓg(x,y) − ∇ₓg(x,θ)
/// d_y = ∇ᵧf(x,y)/c + ∇ᵧg(x,y) − γ(y − θ)
/// d_θ = ∇ᵧg(x,θ) + γ(θ − y),      c = c₀ (k + 1)^¼ in round k
/// ```
/// Needs gradients only. θ follows the proximal point of y, which exists if γ exceeds how
/// nonconvex g is. y is biased by O(1/c), which falls with the rounds. The recursion is as public
/// code of MEHA has it.
#[derive(Clone, Copy, Debug)]
pub struct Moreau {
    penalty: f64,
    proximal: f64,
}

impl Moreau {
    /// With the penalty c₀ and the proximal weight γ.
    pub fn new(penalty: f64, proximal: f64) -> Self {
        Self { penalty, proximal }
    }

    /// Reads its settings.
    pub fn read(keys: &mut SettingsReader<'_>) -> Self {
        let about = "c₀ of the penalty c₀ (k + 1)^¼: y is biased by O(1/c)";
        let penalty = keys.number("penalty", 10.0, POSITIVE, about);
        let about = "γ of the proximal term: larger than how nonconvex g is in y";
        Self { penalty, proximal: keys.number("proximal", 1.0, POSITIVE, about) }
    }
}

impl<T: Scalar> Direction<T> for Moreau {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner), ("theta", dim.inner)])
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
        let (one, gamma) = (T::one(), T::of(self.proximal));
        let f = T::of(1.0 / (self.penalty * (1.0 + oracle.round as f64).powf(0.25)));
        let (x, y, theta) = thirds(dim, at.shared);
        d.fill(T::zero());
        let (dx, dy, dt) = thirds_mut(dim, d.shared);
        oracle.add_gradient(Level::Upper, at.own, x, y, GradientMut { scale: (f, f), own: d.own, x: dx, y: dy });
        oracle.add_gradient(Level::Lower, at.own, x, y, GradientMut { scale: (one, one), own: d.own, x: dx, y: dy });
        oracle.add_gradient(
            Level::Lower,
            at.own,
            x,
            theta,
            GradientMut { scale: (-one, one), own: d.own, x: dx, y: dt },
        );
        for d in [dy, dt] {
            linalg::add_scaled(d, gamma, theta);
            linalg::add_scaled(d, -gamma, y);
        }
    }

    fn step_sizes(&self, smoothness: &Smoothness, [x, _, z]: StepSizes) -> StepSizes {
        // As with a fixed penalty, of which this one is the smallest.
        let steepest = smoothness.f_yy / self.penalty + smoothness.g_yy + self.proximal;
        let inner = z * smoothness.g_yy / usable(steepest);
        [x * self.penalty, inner, inner]
    }
}
