//! The direction of double loops: iterative differentiation.

use super::{Direction, Parts, PartsMut, StepSizes};
use crate::problem::default_epsilon;
use crate::settings::SettingsReader;
use crate::{Blocks, Dim, GradientMut, Level, Oracle, Scalar, Smoothness, linalg};

/// The lower level, its sensitivity S = dy/dx carried forward beside it, and the hypergradient they
/// give (Franceschi, Donini, Frasconi, Pontil: *Forward and reverse gradient-based hyperparameter
/// optimization*, ICML 2017; Grazzi, Franceschi, Pontil, Salzo, ICML 2020).
///
/// ```text
/// d_x = ∇ₓf(x,y) + Sᵀ∇ᵧf(x,y)      d_y = ∇ᵧg(x,y)      d_S = ∇²ᵧₓg(x,y) + ∇²ᵧᵧg(x,y) S
/// ```
/// S is mixed as y is: differentiating a step of the lower level, `y⁺ = A y − η t`, gives that of
/// S. (Backwards it would need links the other way.) Column j of `d_S` is the change of ∇ᵧg along
/// (eⱼ, Sⱼ), by central differences, so a round costs two gradients for each coordinate of x. For x
/// of few coordinates, none of them private.
#[derive(Clone, Copy, Debug, Default)]
pub struct Itd;

impl Itd {
    /// The largest number of entries of S.
    pub const LARGEST: usize = 100_000;

    /// What users can choose: nothing but the rounds of the inner loop, which are the method's.
    pub fn read(keys: &mut SettingsReader<'_>) -> u64 {
        keys.whole("inner_rounds", 10, 1.., "exchanges of the lower level for each of the upper level")
    }
}

impl<T: Scalar> Direction<T> for Itd {
    /// S, one column after the other, has the step of y: its block bears the same name.
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("outer", dim.outer), ("inner", dim.inner), ("inner", dim.outer * dim.inner)])
    }

    fn start(&self, x: &[T], y: &[T], v: &mut [T]) {
        v[..x.len()].copy_from_slice(x);
        v[x.len()..][..y.len()].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        let (x, rest) = v.split_at(dim.outer);
        (x, &rest[..dim.inner])
    }

    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        let Dim { outer, inner } = oracle.problem.dim();
        let (x, rest) = at.shared.split_at(outer);
        let (y, s) = rest.split_at(inner);
        d.fill(T::zero());
        let (dx, rest) = d.shared.split_at_mut(outer);
        let (dy, ds) = rest.split_at_mut(inner);
        let one = (T::one(), T::one());
        oracle.add_gradient(
            Level::Upper,
            at.own,
            x,
            y,
            GradientMut { scale: one, own: &mut [], x: &mut *dx, y: &mut *dy },
        );
        for (dx, s) in dx.iter_mut().zip(s.chunks(inner)) {
            *dx += linalg::dot(s, dy);
        }
        dy.fill(T::zero());
        oracle.add_gradient(
            Level::Lower,
            at.own,
            x,
            y,
            GradientMut { scale: one, own: &mut [], x: &mut [], y: &mut *dy },
        );
        for (j, (ds, s)) in ds.chunks_mut(inner).zip(s.chunks(inner)).enumerate() {
            let epsilon = default_epsilon::<T>() / (T::one() + linalg::norm_squared(s)).sqrt();
            let to = GradientMut { scale: one, own: &mut [], x: &mut [], y: ds };
            oracle.add_joint_difference(at.own, x, y, (j, s), epsilon, to);
        }
    }

    /// Double loops have no automatic step sizes; these are a start for who looks for them.
    fn step_sizes(&self, _smoothness: &Smoothness, sizes: StepSizes) -> StepSizes {
        sizes
    }
}
