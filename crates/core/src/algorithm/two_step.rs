//! EXTRA and Exact Diffusion: gossip that remembers the step before.

use super::mover::Kept;
use super::{Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

/// Gossip whose memory of one more step removes the error that a constant step size leaves.
///
/// ```text
/// EXTRA:            v⁺ = W̃ (2v − v⁻) − (η d − η⁻ d⁻)
/// Exact Diffusion:  v⁺ = W̃ (2v − v⁻ − (η d − η⁻ d⁻))
/// W̃ = (I + W)/2,  d the direction at v;  at the start v⁻ = v and η⁻ d⁻ = 0
/// ```
/// Shi, Ling, Wu, Yin: *EXTRA: an exact first-order algorithm for decentralized consensus
/// optimization*, SIAM J. Optim. 2015; Yuan, Ying, Zhao, Sayed: *Exact diffusion for distributed
/// optimization and learning*, IEEE TSP 2019. At a fixed point all agents agree, and what is left,
/// Σ η d = 0, is the condition of the optimum. Needs one undirected graph that does not change,
/// with symmetric weights, every message, and given step sizes: what agents remember is in the
/// units of these, so that a change on the way throws agents back.
///
/// With [`crate::direction::Soba`] it is our reading of SPARKLE (Zhu, Kong, Lu, Huang, Yuan,
/// NeurIPS 2024, arXiv 2411.14166), without its moving average of hypergradients (θ = 1):
/// recursion as recalled.
pub struct TwoStep<T> {
    mover: Mover<T>,
    correction: Correction,
}

/// Whether the change of the direction is mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// It is not: EXTRA.
    Extra,
    /// It is: Exact Diffusion.
    ExactDiffusion,
}

impl<T: Scalar> TwoStep<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
        correction: Correction,
    ) -> Result<Self, StepsError> {
        let mover = Mover::new(problem, direction, steps)?.with_given_sizes()?.with_every_exchange()?;
        Ok(Self { mover, correction })
    }

    /// Finds how the displacement `−η d` changes at v, and adds that to it.
    fn displace(
        &self,
        round: u64,
        v: PartsMut<'_, T>,
        (change, displacement): (&mut [T], &mut [T]),
        (d, d_own, rule): (&mut [T], &mut [T], &mut [T]),
        oracle: &mut Oracle<'_, T>,
    ) {
        self.mover.eval(v.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
        change.iter_mut().zip(&*displacement).for_each(|(change, &before)| *change = -before);
        let to = &mut PartsMut { shared: &mut *change, own: v.own };
        self.mover.descend(round, Parts { shared: d, own: d_own }, to, &[], rule);
        linalg::add(displacement, change);
    }
}

impl<T: Scalar> Algorithm<T> for TwoStep<T> {
    fn direction(&self) -> &dyn Direction<T> {
        self.mover.direction()
    }

    fn mover(&self) -> Option<&Mover<T>> {
        Some(&self.mover)
    }

    fn blocks(&self) -> &Blocks {
        self.mover.blocks()
    }

    fn segments(&self, own: usize) -> Segments {
        self.mover.row([Segment::new(SegmentKind::Pull, self.mover.width())], own)
    }

    fn keep(&self, own: usize) -> usize {
        self.mover.keep(4, own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, .. }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let (sent, row_own) = row.split_at_mut(shared.len());
        let Kept { vectors: [v, displacement, change, d], d_own, rule } = self.mover.kept(keep, own.len());
        v.copy_from_slice(shared);
        sent.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        displacement.fill(T::zero());
        self.mover.begin(Parts { shared, own }, &mut [], rule, oracle);
        let at = PartsMut { shared: v, own: row_own };
        self.displace(oracle.round, at, (change, displacement), (d, d_own, rule), oracle);
        if self.correction == Correction::ExactDiffusion {
            linalg::add(sent, change);
        }
    }

    fn step(&self, Agent { now, next, keep, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (mixed, own) = next.split_at_mut(self.mover.width()); // = W (2v − v⁻ …)
        let Kept { vectors: [v, displacement, change, d], d_own, rule } = self.mover.kept(keep, own.len());
        // v becomes v⁺, and what is sent 2v⁺ − v.
        let half = T::of(0.5);
        for (((mixed, &sent), v), &change) in mixed.iter_mut().zip(now).zip(v.iter_mut()).zip(&*change) {
            let corrected = if self.correction == Correction::Extra { change } else { T::zero() };
            let moved = half * (sent + *mixed) + corrected;
            *mixed = moved + (moved - *v);
            *v = moved;
        }
        let at = PartsMut { shared: v, own };
        self.displace(oracle.round + 1, at, (change, displacement), (d, d_own, rule), oracle);
        if self.correction == Correction::ExactDiffusion {
            linalg::add(mixed, change);
        }
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }
}
