//! HGP: hypergradients by push-sum.

mod pushed;
mod turns;

pub use turns::Turns;

use self::{pushed::Pushed, turns::Turn};
use super::mover::Kept;
use super::{Agent, Algorithm, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Neumann, Parts, PartsMut};
use crate::{Blocks, Dim, Mask, Oracle, Problem, Scalar, Segment, SegmentKind, Segments};

/// HGP: push-sum for the lower level, and then push-sum for each term of the hypergradient
/// (Terashita, Hara: *Decentralized hyper-gradient computation over time-varying directed
/// networks*, 2022, arXiv 2210.02129; the recursion is that of the authors' program). Agents take
/// turns:
///
/// ```text
/// inner_rounds times      u⁺ = B (u − η d_y)      ω⁺ = B ω      y⁺ = u⁺/ω⁺
/// terms times             s = 1;  pushes times  r⁺ = B r,  s⁺ = B s;  w = r/s
///                         h⁺ = h − δ ∇²ₓᵧg w      r = w − δ ∇²ᵧᵧg w
/// once                    u⁺ = B (u − η h)        ω⁺ = B ω      x⁺ = u⁺/ω⁺
/// ```
/// A series begins with h = ∇ₓf and r = ∇ᵧf; few terms, or few pushes for each, leave an error. In
/// the paper hyperparameters are each agent's own; that agents also share some is ours.
pub struct HyperGradientPush<T> {
    mover: Mover<T>,
    direction: Neumann,
    turns: Turns,
    dim: Dim,
    damping: T,
}

impl<T: Scalar> HyperGradientPush<T> {
    /// HGP with these turns and step sizes, for this problem.
    pub(super) fn new(
        problem: &dyn Problem<T>,
        direction: Neumann,
        turns: Turns,
        steps: Steps,
    ) -> Result<Self, StepsError> {
        let mover = Mover::new(problem, direction, steps)?.with_given_sizes()?.with_every_exchange()?;
        let damping = T::of(turns.damping.unwrap_or_else(|| mover.rule.given_size(1)));
        Ok(Self { mover, direction, turns, dim: problem.dim(), damping })
    }

    /// Prepares what is sent in the round of a turn: contributes to it what it takes, beside what
    /// is there.
    fn prepare(
        &self,
        (turn, round): (Turn, u64),
        there: &Pushed<'_, T>,
        level: &mut Pushed<'_, T>,
        own: &mut [T],
        Kept { vectors: [v, h], d_own, rule }: Kept<'_, T, 2>,
        oracle: &mut Oracle<'_, T>,
    ) {
        let at = Parts { shared: v, own };
        match turn {
            Turn::Lower => self.mover.eval(at, oracle, PartsMut { shared: &mut *h, own: &mut *d_own }),
            Turn::Series { begins: true, .. } => {
                let h = PartsMut { shared: &mut h[..self.dim.outer], own: d_own };
                Neumann::begin(at, oracle, h, level.r);
                level.become_term_of(there);
                return;
            }
            Turn::Series { .. } => return,
            Turn::Upper => {}
        }
        let mut ahead = PartsMut { shared: &mut *level.u, own };
        self.mover.rule.descend_block((round, turn.block()), Parts { shared: h, own: d_own }, &mut ahead, rule);
    }
}

impl<T: Scalar> Algorithm<T> for HyperGradientPush<T> {
    fn direction(&self) -> &dyn Direction<T> {
        self.mover.direction()
    }

    fn mover(&self) -> Option<&Mover<T>> {
        Some(&self.mover)
    }

    fn blocks(&self) -> &Blocks {
        self.mover.blocks()
    }

    /// u of x and of y, their weights, r and s.
    fn segments(&self, own: usize) -> Segments {
        let Dim { outer, inner } = self.dim;
        let lengths = [outer, inner, 1, 1, inner, 1];
        self.mover.row(lengths.map(|len| Segment::new(SegmentKind::Push, len)), own)
    }

    fn keep(&self, own: usize) -> usize {
        self.mover.keep(2, own)
    }

    fn sends(&self, round: u64) -> Mask {
        match self.turns.turn(round) {
            Turn::Upper => Mask::of([0, 2]),
            Turn::Lower => Mask::of([1, 3]),
            Turn::Series { .. } => Mask::of([4, 5]),
        }
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let kept = self.mover.kept::<2>(keep, own.len());
        let (pushed, row_own) = row.split_at_mut(input.len());
        pushed.fill(T::zero());
        row_own.copy_from_slice(own);
        kept.vectors[0].copy_from_slice(shared);
        self.mover.begin(Parts { shared, own }, &mut [], kept.rule, oracle);
        let mut level = Pushed::of(input, self.dim);
        level.start_at(shared);
        let turn = self.turns.turn(oracle.round).at_a_start();
        self.prepare((turn, oracle.round), &Pushed::of(pushed, self.dim), &mut level, row_own, kept, oracle);
    }

    fn step(&self, Agent { next, keep, input, .. }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let (mixed, own) = next.split_at_mut(input.len()); // = B (what was sent) − level
        let (there, mut level) = (Pushed::of(mixed, self.dim), Pushed::of(input, self.dim));
        let mut kept = self.mover.kept::<2>(keep, own.len());
        let [v, h] = &mut kept.vectors;
        match self.turns.turn(oracle.round) {
            Turn::Series { ends_term: false, .. } => {}
            Turn::Series { .. } => {
                let (h, w) = h.split_at_mut(self.dim.outer);
                level.write_term(&there, w);
                let term = (Parts { shared: v, own }, &*w, self.damping);
                self.direction.add_term(term, oracle, PartsMut { shared: h, own: kept.d_own }, level.r);
                level.become_term_of(&there);
            }
            turn => level.write_block(turn.block(), &there, v),
        }
        let round = oracle.round + 1;
        self.prepare((self.turns.turn(round), round), &there, &mut level, own, kept, oracle);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }

    fn bears_reversals(&self) -> bool {
        false
    }
}
