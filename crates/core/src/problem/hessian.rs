//! Second derivatives of one agent's functions, as linear maps that need gradients only.

use super::oracle::{Oracle, default_epsilon};
use super::point::{GradientMut, Level};
use crate::rng::{Purpose, Stream};
use crate::{Scalar, linalg};

/// One side of a block of second derivatives: the outer or the inner coordinates.
pub(super) type Side = usize;
/// The outer coordinates: x, and the private ones after it.
pub(super) const OUTER: Side = 0;
/// The inner coordinates: y.
pub(super) const INNER: Side = 1;

/// A vector over the outer and the inner coordinates. An empty side stands for zeros where it is
/// read, and is not computed where it is written.
type Sides<V> = [V; 2];

/// The second derivatives of one agent's f and g at a point.
pub(super) struct Hessian<'a, 'p, T: Scalar> {
    oracle: &'a mut Oracle<'p, T>,
    point: Sides<Vec<T>>,
    /// The number of outer coordinates that are shared, which come first.
    shared: usize,
    shifted: Sides<Vec<T>>,
}

impl<'a, 'p, T: Scalar> Hessian<'a, 'p, T> {
    /// Power iterations: enough for a few per cent, which is all that a step size needs.
    const ITERATIONS: usize = 12;
    /// Power iterations that begin near their goal.
    const MORE: usize = 4;
    /// Iterations of conjugate gradients, for the same reason.
    const SOLVE: usize = 12;

    pub(super) fn new(oracle: &'a mut Oracle<'p, T>, own: &[T], x: &[T], y: &[T]) -> Self {
        let point = [[x, own].concat(), y.to_vec()];
        Self { oracle, shared: x.len(), shifted: point.clone(), point }
    }

    /// Moves y by gradient steps of g.
    pub(super) fn descend(&mut self, step: f64, times: usize) {
        let [outer, y] = &mut self.point;
        let (x, own) = outer.split_at(self.shared);
        let mut slope = vec![T::zero(); y.len()];
        for _ in 0..times {
            slope.fill(T::zero());
            let to = GradientMut { scale: (T::one(), T::one()), own: &mut [], x: &mut [], y: &mut slope };
            self.oracle.add_gradient(Level::Lower, own, x, y, to);
            linalg::add_scaled(y, T::of(-step), &slope);
        }
    }

    /// The spectral norm of the block H that takes a change on one side to the gradient on another:
    /// power iteration on HᵀH, where Hᵀ is the mirrored block.
    pub(super) fn block_norm(&mut self, level: Level, from: Side, to: Side) -> f64 {
        let (mut vector, mut image) = (self.probe(from), vec![T::zero(); self.point[to].len()]);
        let mut norm = T::zero();
        for _ in 0..Self::ITERATIONS {
            if image.is_empty() || !normalise(&mut vector) {
                break;
            }
            self.block_product(level, (from, &vector), (to, &mut image));
            norm = linalg::norm(&image);
            self.block_product(level, (to, &image), (from, &mut vector));
        }
        norm.f64()
    }

    /// The curvature of f along the lower-level answer, where y moves with x as `J = −g_yy⁻¹ g_yx`,
    /// and what of it comes late: the spectral norms of `[I Jᵀ] ∇²f [I; J]` and of `½(C + Cᵀ)` with
    /// `C = (f_xy + Jᵀ f_yy) g_yy⁻¹ J`. The second iteration begins where the first one ends.
    pub(super) fn answer_norms(&mut self) -> (f64, f64) {
        let mut vector = self.probe(OUTER);
        let curvature = self.outer_norm(&mut vector, Self::ITERATIONS, |at, x| {
            let (_, outer, inner) = at.along_answer(x);
            at.pull_back(outer, &inner)
        });
        let lag = self.outer_norm(&mut vector, Self::MORE, |at, x| {
            let (follows, mut outer, mut inner) = at.along_answer(x);
            let late = at.solve(&inner);
            let behind = at.solve(&follows);
            at.product(Level::Upper, [&[], &behind], [&mut outer, &mut inner]);
            linalg::add(&mut inner, &late);
            at.pull_back(outer, &inner)
        });
        (curvature, 0.5 * lag)
    }

    /// The spectral norm of a symmetric map on the outer coordinates, by power iteration from a
    /// vector.
    fn outer_norm(&mut self, vector: &mut Vec<T>, iterations: usize, map: impl Fn(&mut Self, &[T]) -> Vec<T>) -> f64 {
        let mut norm = T::zero();
        for _ in 0..iterations {
            if self.point[INNER].is_empty() || !normalise(vector) {
                break;
            }
            *vector = map(self, vector);
            norm = linalg::norm(vector);
        }
        norm.f64()
    }

    /// The change of y that follows a change of x, and those of ∇ₓf and ∇ᵧf.
    fn along_answer(&mut self, x: &[T]) -> (Vec<T>, Vec<T>, Vec<T>) {
        let [mut outer, mut inner] = self.point.each_ref().map(|side| vec![T::zero(); side.len()]);
        self.block_product(Level::Lower, (OUTER, x), (INNER, &mut inner));
        let mut follows = self.solve(&inner);
        linalg::scale(&mut follows, -T::one());
        self.product(Level::Upper, [x, &follows], [&mut outer, &mut inner]);
        (follows, outer, inner)
    }

    /// `outer + Jᵀ inner`.
    fn pull_back(&mut self, mut outer: Vec<T>, inner: &[T]) -> Vec<T> {
        let adjoint = self.solve(inner);
        let mut through = vec![T::zero(); outer.len()];
        self.block_product(Level::Lower, (INNER, &adjoint), (OUTER, &mut through));
        linalg::add_scaled(&mut outer, -T::one(), &through);
        outer
    }

    /// Solves `g_yy q = b` by conjugate gradients.
    fn solve(&mut self, b: &[T]) -> Vec<T> {
        let (mut solution, mut residual) = (vec![T::zero(); b.len()], b.to_vec());
        let (mut along, mut image) = (b.to_vec(), vec![T::zero(); b.len()]);
        let mut size = linalg::norm_squared(b);
        let small = T::of(1e-6) * size;
        for _ in 0..Self::SOLVE {
            self.block_product(Level::Lower, (INNER, &along), (INNER, &mut image));
            let curvature = linalg::dot(&along, &image);
            if !(size > small && curvature > T::zero()) {
                break;
            }
            linalg::add_scaled(&mut solution, size / curvature, &along);
            linalg::add_scaled(&mut residual, -size / curvature, &image);
            let before = std::mem::replace(&mut size, linalg::norm_squared(&residual));
            linalg::scale(&mut along, size / before);
            linalg::add(&mut along, &residual);
        }
        solution
    }

    /// `out = H v` for one block H.
    fn block_product(&mut self, level: Level, (from, v): (Side, &[T]), (to, out): (Side, &mut [T])) {
        let v = if from == OUTER { [v, &[]] } else { [&[], v] };
        self.product(level, v, if to == OUTER { [out, &mut []] } else { [&mut [], out] });
    }

    /// `out = H v` by central differences of gradients around the point.
    fn product(&mut self, level: Level, v: Sides<&[T]>, [outer, inner]: Sides<&mut [T]>) {
        outer.fill(T::zero());
        inner.fill(T::zero());
        let length = v.map(linalg::norm_squared).into_iter().sum::<T>().sqrt();
        if !length.is_normal() {
            return;
        }
        let moved = self.point.iter().zip(v).filter(|(_, v)| !v.is_empty());
        let size = moved.map(|(point, _)| linalg::norm_squared(point)).sum::<T>().sqrt();
        let reach = default_epsilon::<T>() * (T::one() + size) / length;
        let (by_x, by_own) = outer.split_at_mut(self.shared.min(outer.len()));
        for sign in [T::one(), -T::one()] {
            self.shift(sign * reach, v);
            let (x, own) = self.shifted[OUTER].split_at(self.shared);
            let factor = sign / (reach + reach);
            let to = GradientMut { scale: (factor, factor), own: &mut *by_own, x: &mut *by_x, y: &mut *inner };
            self.oracle.add_gradient(level, own, x, &self.shifted[INNER], to);
        }
    }

    /// Sets the shifted point to the point and a multiple of v.
    fn shift(&mut self, factor: T, v: Sides<&[T]>) {
        for ((shifted, point), v) in self.shifted.iter_mut().zip(&self.point).zip(v) {
            if v.is_empty() {
                shifted.copy_from_slice(point);
            } else {
                linalg::sum_scaled(shifted, point, factor, v);
            }
        }
    }

    /// A random vector over one side, the same at every call.
    fn probe(&self, side: Side) -> Vec<T> {
        let mut stream = Stream::new(self.oracle.seed, self.oracle.agent, self.oracle.round, Purpose::Probe);
        stream.normals(self.point[side].len(), 1.0)
    }
}

/// Scales a vector to length one; returns whether that is possible.
fn normalise<T: Scalar>(vector: &mut [T]) -> bool {
    let length = linalg::norm(vector);
    let possible = length.is_normal();
    if possible {
        linalg::scale(vector, length.recip());
    }
    possible
}
