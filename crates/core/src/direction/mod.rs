//! Directions: what one agent computes from its own data, at its own point, without any graph.
//!
//! A method is a communication pattern times a direction: FAB is `PushPull × Penalty`, and so on.

mod blocks;
mod difference;
mod gradient;
mod itd;
mod moreau;
mod neumann;
mod penalty;
mod registry;
mod soba;

pub use blocks::Blocks;
pub use difference::Difference;
pub use gradient::Gradient;
pub use itd::Itd;
pub use moreau::Moreau;
pub use neumann::Neumann;
pub use penalty::Penalty;
pub use registry::{DirectionKind, directions};
pub use soba::Soba;

use crate::{Dim, Oracle, Scalar, Smoothness};

/// What one agent computes from its own data.
pub trait Direction<T: Scalar>: Send + Sync {
    /// The parts of the shared point v. In a bilevel direction the first is the outer variable,
    /// whose step the private coordinates share.
    fn blocks(&self, dim: Dim) -> Blocks;

    /// Writes the point a run starts from, given the problem's starting x and y; v arrives as
    /// zeros.
    fn start(&self, x: &[T], y: &[T], v: &mut [T]);

    /// The outer variable and the lower-level solution that a point v stands for.
    fn solution<'a>(&'a self, dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]);

    /// Writes the direction at a point: steps are taken against it.
    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, d: PartsMut<'_, T>);

    /// The curvature of the objective of one level, if it has one level: step sizes follow from it
    /// alone.
    fn bound(&self, _smoothness: &Smoothness) -> Option<f64> {
        None
    }

    /// Step sizes of its blocks, from those of x, u and z in dFAB; with one level, from that of z.
    fn step_sizes(&self, smoothness: &Smoothness, sizes: StepSizes) -> StepSizes;
}

/// The most blocks of a direction that automatic step sizes are known for. Given step sizes have no
/// such limit.
pub const MOST_BLOCKS: usize = 3;

/// Automatic step sizes, one for each block, in order; blocks that there are not have any.
pub type StepSizes = [f64; MOST_BLOCKS];

/// A point, or a direction, in its shared and its private part.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a, T> {
    /// The part that neighbours may see.
    pub shared: &'a [T],
    /// The agent's private part.
    pub own: &'a [T],
}

/// [`Parts`] to be written.
#[derive(Debug)]
pub struct PartsMut<'a, T> {
    /// The part that neighbours may see.
    pub shared: &'a mut [T],
    /// The agent's private part.
    pub own: &'a mut [T],
}

impl<T: Copy> PartsMut<'_, T> {
    /// The same parts, to be read.
    pub fn as_ref(&self) -> Parts<'_, T> {
        Parts { shared: self.shared, own: self.own }
    }

    /// Takes over the values of other parts.
    pub fn copy_from(&mut self, other: Parts<'_, T>) {
        self.shared.copy_from_slice(other.shared);
        self.own.copy_from_slice(other.own);
    }

    /// Sets all coordinates to one value.
    pub fn fill(&mut self, value: T) {
        self.shared.fill(value);
        self.own.fill(value);
    }
}

/// Writes a start at x, and twice at y.
fn start_twice<T: Copy>(x: &[T], y: &[T], v: &mut [T]) {
    let (vx, rest) = v.split_at_mut(x.len());
    vx.copy_from_slice(x);
    rest.chunks_exact_mut(y.len().max(1)).for_each(|part| part.copy_from_slice(y));
}

/// Splits a point of three blocks.
fn thirds<T>(dim: Dim, v: &[T]) -> (&[T], &[T], &[T]) {
    let (x, rest) = v.split_at(dim.outer);
    let (second, third) = rest.split_at(dim.inner);
    (x, second, third)
}

/// Splits a direction of three blocks.
fn thirds_mut<T>(dim: Dim, d: &mut [T]) -> (&mut [T], &mut [T], &mut [T]) {
    let (x, rest) = d.split_at_mut(dim.outer);
    let (second, third) = rest.split_at_mut(dim.inner);
    (x, second, third)
}
