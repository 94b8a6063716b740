//! Smoothness: how fast one agent's gradients change, found by the agent itself from gradients
//! alone.

use crate::rng::{Purpose, Stream};
use crate::{GradientMut, Level, Oracle, Scalar, linalg};

/// Bounds on the blocks of the second derivatives of f and g: spectral norms at one point.
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
}

impl Smoothness {
    /// The number of these norms.
    pub const LEN: usize = 6;
    /// The inner step times its bound: well inside the limit of 2, because neighbours' disagreement
    /// takes its share. On policy evaluation 0.4 is slower in the median and three times as often
    /// very late.
    pub const INNER: f64 = 0.25;
    /// The outer step times its bound; the bound adds up terms that partly cancel in the
    /// hypergradient, hence more than 1.
    const OUTER: f64 = 4.0;
    /// Power iterations: enough for a few per cent, which is all that a step size needs.
    const ITERATIONS: usize = 12;

    /// Measures one agent's functions at x and near its own answer to it: at a start of zeros, what
    /// couples x and y may not show.
    pub fn measure<T: Scalar>(oracle: &mut Oracle<'_, T>, own: &[T], x: &[T], y: &[T]) -> Self {
        let y = &answer(oracle, own, x, y);
        let mut norm = |level, from, to| block_norm(oracle, level, (from, to), own, x, y);
        Self {
            f_xx: norm(Level::Upper, Part::Outer, Part::Outer),
            f_xy: norm(Level::Upper, Part::Outer, Part::Inner),
            f_yy: norm(Level::Upper, Part::Inner, Part::Inner),
            g_xx: norm(Level::Lower, Part::Outer, Part::Outer),
            g_xy: norm(Level::Lower, Part::Outer, Part::Inner),
            g_yy: norm(Level::Lower, Part::Inner, Part::Inner),
        }
    }

    /// The numbers, in a fixed order, as agents exchange them.
    pub fn to_array(self) -> [f64; Self::LEN] {
        [self.f_xx, self.f_xy, self.f_yy, self.g_xx, self.g_xy, self.g_yy]
    }

    /// The inverse of [`Smoothness::to_array`].
    pub fn from_array([f_xx, f_xy, f_yy, g_xx, g_xy, g_yy]: [f64; Self::LEN]) -> Self {
        Self { f_xx, f_xy, f_yy, g_xx, g_xy, g_yy }
    }

    /// Step sizes of (x, u, z) for dFAB, and so for SOBA: `4/Lₓ` and `0.25/L_z` with
    /// `Lₓ = Lₓₓ + Lₓᵤ Lᵤₓ/Lᵤᵤ + L_xz L_zx/L_zz + Lₓᵤ L_uz L_zx/(Lᵤᵤ L_zz)`.
    ///
    /// When x moves too fast for u and z to follow, smaller ones help only if they change the
    /// ratio: a setback halves the outer step, every third one the inner ones as well.
    pub fn difference_steps(&self, setbacks: i32) -> [f64; 3] {
        let through = self.g_xy / usable(self.g_yy);
        let outer = self.f_xx + 2.0 * self.f_xy * through + self.f_yy * through * through;
        let inner = Self::INNER / usable(self.g_yy) * 0.5f64.powi(setbacks / 3);
        [Self::OUTER / usable(outer) * 0.5f64.powi(setbacks), inner, inner]
    }
}

/// A bound to divide by: where a function is flat, or its curvature is no number, any step is as
/// good as another.
pub(crate) fn usable(bound: f64) -> f64 {
    if bound.is_normal() { bound } else { 1.0 }
}

/// Some gradient steps of the lower level from y.
fn answer<T: Scalar>(oracle: &mut Oracle<'_, T>, own: &[T], x: &[T], y: &[T]) -> Vec<T> {
    let bound = block_norm(oracle, Level::Lower, (Part::Inner, Part::Inner), own, x, y);
    let (mut y, mut slope) = (y.to_vec(), vec![T::zero(); y.len()]);
    for _ in 0..Smoothness::ITERATIONS {
        slope.fill(T::zero());
        let to = GradientMut { scale: (T::one(), T::one()), own: &mut [], x: &mut [], y: &mut slope };
        oracle.add_gradient(Level::Lower, own, x, &y, to);
        linalg::add_scaled(&mut y, T::of(-1.0 / usable(bound)), &slope);
    }
    y
}

/// The outer or the inner side of a block of second derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Outer,
    Inner,
}

/// The spectral norm of one block H of the second derivatives: power iteration on HᵀH, where
/// products are differences of gradients and Hᵀ is the mirrored block.
fn block_norm<T: Scalar>(
    oracle: &mut Oracle<'_, T>,
    level: Level,
    (from, to): (Part, Part),
    own: &[T],
    x: &[T],
    y: &[T],
) -> f64 {
    let dim = oracle.problem.dim();
    let len = |part| if part == Part::Outer { dim.outer } else { dim.inner };
    if len(from) == 0 || len(to) == 0 {
        return 0.0;
    }
    let mut stream = Stream::new(oracle.seed, oracle.agent, oracle.round, Purpose::Probe);
    let mut probe: Vec<T> = stream.normals(len(from), 1.0);
    let mut image = vec![T::zero(); len(to)];
    let mut norm = T::zero();
    for _ in 0..Smoothness::ITERATIONS {
        let length = linalg::norm(&probe);
        if !length.is_normal() {
            break;
        }
        linalg::scale(&mut probe, length.recip());
        product(oracle, level, (from, &probe), (to, &mut image), own, x, y);
        norm = linalg::norm(&image);
        product(oracle, level, (to, &image), (from, &mut probe), own, x, y);
    }
    norm.f64()
}

/// `out = H v` by central differences around the point, for the block H that takes a change of
/// `from` to the gradient in `to`.
fn product<T: Scalar>(
    oracle: &mut Oracle<'_, T>,
    level: Level,
    (from, v): (Part, &[T]),
    (to, out): (Part, &mut [T]),
    own: &[T],
    x: &[T],
    y: &[T],
) {
    let base = if from == Part::Outer { x } else { y };
    let length = linalg::norm(v);
    out.fill(T::zero());
    if !length.is_normal() {
        return;
    }
    let reach = T::epsilon().cbrt() * (T::one() + linalg::norm(base)) / length;
    let mut shifted = vec![T::zero(); base.len()];
    for sign in [T::one(), -T::one()] {
        linalg::sum_scaled(&mut shifted, base, sign * reach, v);
        let (x, y) = if from == Part::Outer { (&shifted[..], y) } else { (x, &shifted[..]) };
        let factor = sign / (reach + reach);
        let slopes: (&mut [T], &mut [T]) = if to == Part::Outer { (out, &mut []) } else { (&mut [], out) };
        oracle.add_gradient(
            level,
            own,
            x,
            y,
            GradientMut { scale: (factor, factor), own: &mut [], x: slopes.0, y: slopes.1 },
        );
    }
}
