//! Gossip descent without tracking.

use super::mover::Kept;
use super::{Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments};

/// D-PSGD: each steps along its own direction, then averages with its neighbours (Lian, Zhang,
/// Zhang, Hsieh, Zhang, Liu: *Can decentralized algorithms outperform centralized algorithms?*,
/// NeurIPS 2017).
///
/// ```text
/// v⁺ = W (v − η d),  d the direction at v
/// ```
/// It converges to the right point only if W is doubly stochastic, as Metropolis weights on
/// undirected graphs are, and only as η falls: the undirected reference. With `exchange_every`,
/// each agent moves several times before it averages, as in FedAvg; agents then drift apart
/// further.
pub struct Gossip<T> {
    mover: Mover<T>,
}

impl<T: Scalar> Gossip<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        Ok(Self { mover: Mover::new(problem, direction, steps)?.without_trials() })
    }

    /// Moves as often as a round asks for, from the point that `ahead` is at.
    fn go_ahead(
        &self,
        round: u64,
        mut ahead: PartsMut<'_, T>,
        (agreed, d, d_own, rule): (&[T], &mut [T], &mut [T], &mut [T]),
        oracle: &mut Oracle<'_, T>,
    ) {
        self.mover.take_steps(0..self.mover.rule.exchange_every(), oracle, |oracle| {
            self.mover.eval(ahead.as_ref(), oracle, PartsMut { shared: &mut *d, own: &mut *d_own });
            self.mover.descend(round, Parts { shared: d, own: d_own }, &mut ahead, agreed, rule);
        });
    }
}

impl<T: Scalar> Algorithm<T> for Gossip<T> {
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
        self.mover.keep(2, own)
    }

    fn begin(&self, point: &[T], Fresh { row, keep, .. }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let (ahead, rest) = row.split_at_mut(shared.len());
        let (agreed, row_own) = rest.split_at_mut(self.mover.rule.agreed());
        let Kept { vectors: [v, d], d_own, rule } = self.mover.kept(keep, own.len());
        v.copy_from_slice(shared);
        ahead.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        self.mover.begin(Parts { shared, own }, agreed, rule, oracle);
        self.go_ahead(oracle.round, PartsMut { shared: ahead, own: row_own }, (agreed, d, d_own, rule), oracle);
    }

    fn step(&self, Agent { next, keep, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (mixed, rest) = next.split_at_mut(self.mover.width()); // = W (v − η d) = v⁺
        let (agreed, own) = rest.split_at_mut(self.mover.rule.agreed());
        // What is sent is ahead of the point.
        let Kept { vectors: [v, d], d_own, rule } = self.mover.kept(keep, own.len());
        let before = &mut PartsMut { shared: &mut *v, own: &mut *own };
        if self.mover.goes_back(oracle.round, (Parts { shared: d, own: d_own }, d), before, agreed, rule) {
            return Request::Restart;
        }
        v.copy_from_slice(mixed);
        self.go_ahead(oracle.round + 1, PartsMut { shared: mixed, own }, (agreed, d, d_own, rule), oracle);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }
}
