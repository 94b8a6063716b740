//! What an agent of HGP pushes.

use crate::{Dim, Scalar, linalg};

/// What an agent pushes, divided; also its contributions to that.
pub(super) struct Pushed<'a, T> {
    /// The mass of x and of y.
    pub(super) u: &'a mut [T],
    /// The weights of x and of y.
    pub(super) weights: &'a mut [T],
    /// The mass of a term.
    pub(super) r: &'a mut [T],
    /// The weight of this mass.
    pub(super) s: &'a mut T,
}

impl<'a, T: Scalar> Pushed<'a, T> {
    /// Divides the scalars of pushed segments.
    pub(super) fn of(scalars: &'a mut [T], dim: Dim) -> Self {
        let (u, rest) = scalars.split_at_mut(dim.outer + dim.inner);
        let (weights, rest) = rest.split_at_mut(2);
        let (r, rest) = rest.split_at_mut(dim.inner);
        Self { u, weights, r, s: &mut rest[0] }
    }

    /// What an agent contributes at first: its point, and no term.
    pub(super) fn start_at(&mut self, point: &[T]) {
        self.u.copy_from_slice(point);
        self.weights.fill(T::one());
        self.r.fill(T::zero());
        *self.s = T::one();
    }

    /// Writes a block of the point that mass stands for, here and there.
    pub(super) fn write_block(&self, block: usize, there: &Pushed<'_, T>, point: &mut [T]) {
        let outer = point.len() - self.r.len();
        let range = if block == 0 { 0..outer } else { outer..point.len() };
        let masses = [&self.u[range.clone()], &there.u[range.clone()]];
        unbias(&mut point[range], masses, self.weights[block] + there.weights[block]);
    }

    /// Writes the average term.
    pub(super) fn write_term(&self, there: &Pushed<'_, T>, term: &mut [T]) {
        unbias(term, [self.r, there.r], *self.s + *there.s);
    }

    /// Turns a term into what an agent has to contribute, if others' mass is there already, so that
    /// it holds that term, with a weight of one.
    pub(super) fn become_term_of(&mut self, there: &Pushed<'_, T>) {
        linalg::add_scaled(self.r, -T::one(), there.r);
        *self.s = T::one() - *there.s;
    }
}

/// The value that mass in two parts stands for.
fn unbias<T: Scalar>(value: &mut [T], [first, second]: [&[T]; 2], weight: T) {
    for ((value, &first), &second) in value.iter_mut().zip(first).zip(second) {
        *value = (first + second) / weight;
    }
}
