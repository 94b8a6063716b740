//! Smoothness: how fast one agent's gradients change, found by the agent itself from gradients
//! alone.

use super::hessian::{Hessian, INNER, OUTER, Side};
use super::noise::relative_noise;
use super::oracle::Oracle;
use super::point::Level;
use crate::Scalar;

/// Bounds on the second derivatives of f and g at one point: spectral norms of their blocks, where
/// x includes the private coordinates, the two curvatures that count when y follows x, and how
/// noisy gradients are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smoothness {
    /// The spectral norm ‖∇²ₓₓf‖.
    pub f_xx: f64,
    /// The spectral norm ‖∇²ₓᵧf‖.
    pub f_xy: f64,
    /// The spectral norm ‖∇²ᵧᵧf‖.
    pub f_yy: f64,
    /// The spectral norm ‖∇²ₓₓg‖.
    pub g_xx: f64,
    /// The spectral norm ‖∇²ₓᵧg‖.
    pub g_xy: f64,
    /// The spectral norm ‖∇²ᵧᵧg‖.
    pub g_yy: f64,
    /// The curvature of f along the lower-level answer: ‖[I Jᵀ] ∇²f [I; J]‖ with J = dy*/dx.
    pub hyper: f64,
    /// That curvature times the time by which y is late: half of ‖C + Cᵀ‖ with
    /// `C = (f_xy + Jᵀ f_yy) g_yy⁻¹ J`, or 100·hyper/‖∇²ᵧᵧg‖ if that is smaller.
    pub lag: f64,
    /// The standard deviation of gradients over rounds, divided by their mean: 0 where they are
    /// exact.
    pub noise: f64,
}

impl Smoothness {
    /// The number of these norms.
    pub const LEN: usize = 9;
    /// Gradient steps of the lower level before anything is measured.
    const ANSWER: usize = 12;
    /// How late y may be, in gradient steps of the lower level: flat directions have no answer.
    const LATEST: f64 = 100.0;

    /// Measures one agent's functions at x and near its own answer to it: at a start of zeros, what
    /// couples x and y may not show.
    pub fn measure<T: Scalar>(oracle: &mut Oracle<'_, T>, own: &[T], x: &[T], y: &[T]) -> Self {
        let noise = relative_noise(oracle, own, x, y);
        let mut at = Hessian::new(oracle, own, x, y);
        let bound = at.block_norm(Level::Lower, INNER, INNER);
        at.descend(1.0 / usable(bound), Self::ANSWER);
        let mut norm = |level, from: Side, to: Side| at.block_norm(level, from, to);
        let blocks = Self {
            f_xx: norm(Level::Upper, OUTER, OUTER),
            f_xy: norm(Level::Upper, OUTER, INNER),
            f_yy: norm(Level::Upper, INNER, INNER),
            g_xx: norm(Level::Lower, OUTER, OUTER),
            g_xy: norm(Level::Lower, OUTER, INNER),
            g_yy: norm(Level::Lower, INNER, INNER),
            ..Self::default()
        };
        let (hyper, lag) = at.answer_norms();
        Self { hyper, lag: lag.min(Self::LATEST * hyper / usable(blocks.g_yy)), noise, ..blocks }
    }

    /// The numbers, in a fixed order, as agents exchange them.
    pub fn to_array(self) -> [f64; Self::LEN] {
        let Self { f_xx, f_xy, f_yy, g_xx, g_xy, g_yy, hyper, lag, noise } = self;
        [f_xx, f_xy, f_yy, g_xx, g_xy, g_yy, hyper, lag, noise]
    }

    /// The inverse of [`Smoothness::to_array`].
    pub fn from_array([f_xx, f_xy, f_yy, g_xx, g_xy, g_yy, hyper, lag, noise]: [f64; Self::LEN]) -> Self {
        Self { f_xx, f_xy, f_yy, g_xx, g_xy, g_yy, hyper, lag, noise }
    }

    /// By how many gradient steps the answer of the lower level is late, where it matters to x.
    pub fn delay(&self) -> f64 {
        self.lag * usable(self.g_yy) / usable(self.hyper)
    }

    /// The curvatures that limit x, u and z in dFAB, and so in SOBA: `Lₓ`, `L_z` and `L_z` with
    /// `Lₓ = Lₓₓ + Lₓᵤ Lᵤₓ/Lᵤᵤ + L_xz L_zx/L_zz + Lₓᵤ L_uz L_zx/(Lᵤᵤ L_zz)`.
    pub fn difference_bounds(&self) -> [f64; 3] {
        let through = self.g_xy / usable(self.g_yy);
        let outer = self.f_xx + 2.0 * self.f_xy * through + self.f_yy * through * through;
        [outer, self.g_yy, self.g_yy].map(usable)
    }
}

/// A bound to divide by: where a function is flat, or its curvature is no number, any step is as
/// good as another.
pub(crate) fn usable(bound: f64) -> f64 {
    if bound.is_normal() { bound } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::{Capabilities, Dim, GradientMut, Point, PrivatePart, Problem, Scratch, Work};
    use super::*;
    use crate::linalg;

    /// f = ½‖y‖² + ρ/2 (x² + p²) and g = ½ Σ hₛ (yₛ − a x − b p)², whose outer variable is x, and p
    /// if it is private.
    struct Known {
        ridge: f64,
        curvatures: [f64; 2],
        slopes: [f64; 2],
    }

    impl Known {
        fn residuals(&self, at: &Point<'_, f64>) -> [f64; 2] {
            let moved = self.slopes[0] * at.x[0] + self.slopes[1] * at.own[0];
            [at.y[0] - moved, at.y[1] - moved]
        }
    }

    impl PrivatePart for Known {
        fn private(&self, _agent: usize) -> usize {
            1
        }
    }

    impl Problem<f64> for Known {
        fn agents(&self) -> usize {
            1
        }

        fn dim(&self) -> Dim {
            Dim { outer: 1, inner: 2 }
        }

        fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
            let residuals = self.residuals(&at);
            let pull: [f64; 2] = std::array::from_fn(|s| self.curvatures[s] * residuals[s]);
            let (outer, inner) = match level {
                Level::Upper => ([self.ridge * at.x[0], self.ridge * at.own[0]], [at.y[0], at.y[1]]),
                Level::Lower => (self.slopes.map(|slope| -slope * (pull[0] + pull[1])), pull),
            };
            to.x.iter_mut().for_each(|x| *x += to.scale.0 * outer[0]);
            to.own.iter_mut().for_each(|own| *own += to.scale.0 * outer[1]);
            to.y.iter_mut().zip(inner).for_each(|(y, inner)| *y += to.scale.1 * inner);
        }

        fn value(&self, _: Level, at: Point<'_, f64>) -> f64 {
            linalg::norm_squared(at.y)
        }

        fn capabilities(&self) -> Capabilities<'_, f64> {
            Capabilities { private: Some(self), ..Capabilities::default() }
        }
    }

    #[test]
    fn norms_of_known_functions_are_found_private_coordinates_included() {
        let known = Known { ridge: 0.3, curvatures: [2.0, 0.5], slopes: [3.0, 4.0] };
        let mut work = Work::default();
        let mut oracle = Oracle::new(&known, 7, 0, 0, &mut work);
        let found = Smoothness::measure(&mut oracle, &[0.2], &[0.1], &[0.0, 0.0]);
        // The slopes have length 5; y* = (1, 1)·(a x + b p), so f along it is
        // ρ/2 ‖·‖² + (a x + b p)².
        let expected = Smoothness {
            f_xx: 0.3,
            f_xy: 0.0,
            f_yy: 1.0,
            g_xx: 2.5 * 25.0,
            g_xy: 5.0 * (4.0f64 + 0.25).sqrt(),
            g_yy: 2.0,
            hyper: 0.3 + 2.0 * 25.0,
            // Each coordinate of y is late by 1/h: C = 25 (½ + 2).
            lag: 25.0 * 2.5,
            noise: 0.0,
        };
        for (found, expected) in found.to_array().into_iter().zip(expected.to_array()) {
            assert!((found - expected).abs() <= 0.02 * expected + 1e-6, "{found} instead of {expected}");
        }
    }

    #[test]
    fn flat_lower_levels_have_a_bounded_lag() {
        let known = Known { ridge: 0.3, curvatures: [2.0, 0.0], slopes: [1.0, 0.0] };
        let mut work = Work::default();
        let found = Smoothness::measure(&mut Oracle::new(&known, 7, 0, 0, &mut work), &[0.0], &[0.1], &[0.0, 0.0]);
        assert!(found.hyper.is_finite());
        assert!(found.lag <= 50.0 * found.hyper * 1.02, "{} with {}", found.lag, found.hyper);
    }
}
