//! Compressed push-pull, and BEER.

use super::mover::Kept;
use super::{Agent, Algorithm, Compression, Compressor, Fresh, Mover, Request, Steps, StepsError, write_point};
use crate::direction::{Direction, Parts, PartsMut};
use crate::{Blocks, Oracle, Problem, Scalar, Segment, SegmentKind, Segments, linalg};

/// Push-pull in which agents send only how points and trackers differ from references that their
/// neighbours hold, compressed (CPP: Song, Shi, Pu, Yan: *Compressed gradient tracking for
/// decentralized optimization over general directed networks*, IEEE TSP 2022, arXiv 2106.07243;
/// recursion as recalled).
///
/// ```text
/// h⁺ = h + C(v − h)      g⁺ = g + C(t − g)
/// v⁺ = v + γ (A h − h) − η t      t⁺ = t + γ (B g − g) + d⁺ − d,  d⁺ the direction at v⁺
/// ```
/// Of a message only C(…) travels: neighbours add it to their copies of h and g. With links both
/// ways, where A = B = W, and references that start at zero it is BEER (Zhao, Li, Li, Richtárik,
/// Chi, NeurIPS 2022). Σ t = Σ d holds whatever is compressed. Needs every message, because copies
/// of references must not differ.
pub struct Compressed<T> {
    mover: Mover<T>,
    compressor: Compressor,
    /// The step γ of mixing.
    mixing_step: T,
    /// Whether agents send what they start with.
    sends_start: bool,
}

impl<T: Scalar> Compressed<T> {
    /// This direction with these step sizes, for this problem.
    pub fn new(
        problem: &dyn Problem<T>,
        direction: impl Direction<T> + 'static,
        steps: Steps,
        Compression { compressor, mixing_step }: Compression,
    ) -> Result<Self, StepsError> {
        let mover = Mover::new(problem, direction, steps)?.without_trials().with_every_exchange()?;
        Ok(Self { mover, compressor, mixing_step: T::of(mixing_step), sends_start: true })
    }

    /// The same method with references that start at zero, as BEER has them.
    pub fn from_zero(self) -> Self {
        Self { sends_start: false, ..self }
    }

    /// Sends how a vector differs from its reference, compressed.
    fn refine(&self, vector: &[T], reference: &mut [T], q: &mut [T], number: u32, oracle: &mut Oracle<'_, T>) {
        linalg::sum_scaled(q, vector, -T::one(), reference);
        self.compressor.compress(q, number, oracle);
        linalg::add(reference, q);
    }

    /// Of a tracker, γ g is pushed, and the rest is held back: what an agent contributes is its
    /// direction, less that.
    fn hold_back(&self, t: &mut [T], g: &[T], d: &[T], contribution: &mut [T]) {
        linalg::add_scaled(t, -self.mixing_step, g);
        linalg::sum_scaled(contribution, d, -T::one(), t);
    }
}

impl<T: Scalar> Algorithm<T> for Compressed<T> {
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
        let exchanged = [SegmentKind::Pull, SegmentKind::Push].map(|kind| Segment::new(kind, self.mover.width()));
        self.mover.row(exchanged, own)
    }

    fn keep(&self, own: usize) -> usize {
        self.mover.keep(5, own)
    }

    fn message_bytes(&self, _scalars: usize) -> usize {
        2 * self.compressor.bytes(self.mover.width(), T::BYTES) + self.mover.rule.agreed() * T::BYTES
    }

    fn begin(&self, point: &[T], Fresh { row, keep, input }: Fresh<'_, T>, oracle: &mut Oracle<'_, T>) {
        let (shared, own) = point.split_at(self.mover.width());
        let (h, rest) = row.split_at_mut(shared.len());
        let (agreed, row_own) = rest[shared.len()..].split_at_mut(self.mover.rule.agreed());
        let Kept { vectors: [v, g, held, d, q], d_own, rule } = self.mover.kept(keep, own.len());
        v.copy_from_slice(shared);
        row_own.copy_from_slice(own);
        self.mover.begin(Parts { shared, own }, agreed, rule, oracle);
        self.mover.eval(Parts { shared, own }, oracle, PartsMut { shared: &mut *d, own: d_own });
        h.fill(T::zero());
        g.fill(T::zero());
        if self.sends_start {
            self.refine(v, h, q, 0, oracle);
            self.refine(d, g, q, 1, oracle);
        }
        held.copy_from_slice(d);
        self.hold_back(held, g, d, input);
    }

    fn step(&self, Agent { now, next, keep, input }: Agent<'_, T>, oracle: &mut Oracle<'_, T>) -> Request {
        let width = self.mover.width();
        let (h, rest) = next.split_at_mut(width); // = A h
        let (pushed, rest) = rest.split_at_mut(width); // = γ B g − level
        let (agreed, own) = rest.split_at_mut(self.mover.rule.agreed());
        let Kept { vectors: [v, g, t, d, q], d_own, rule } = self.mover.kept(keep, own.len());
        linalg::add(t, &now[width..][..width]); // what was held back, and what was sent
        let mut at = PartsMut { shared: &mut *v, own };
        if self.mover.goes_back(oracle.round, (Parts { shared: t, own: d_own }, d), &mut at, agreed, rule) {
            return Request::Restart;
        }
        linalg::add_scaled(at.shared, self.mixing_step, h);
        linalg::add_scaled(at.shared, -self.mixing_step, &now[..width]);
        self.mover.descend(oracle.round, Parts { shared: t, own: d_own }, &mut at, agreed, rule);
        // t⁺: what the neighbours sent takes the place of what was sent to them.
        linalg::add_scaled(t, -T::one(), &now[width..][..width]);
        linalg::add(t, pushed);
        linalg::add(t, input);
        linalg::add_scaled(t, -T::one(), d);
        self.mover.eval(at.as_ref(), oracle, PartsMut { shared: &mut *d, own: d_own });
        linalg::add(t, d);
        h.copy_from_slice(&now[..width]);
        self.refine(v, h, q, 0, oracle);
        self.refine(t, g, q, 1, oracle);
        self.hold_back(t, g, d, input);
        Request::Go
    }

    fn point(&self, row: &[T], keep: &[T], out: &mut [T]) {
        write_point(&keep[..self.mover.width()], row, out);
    }
}
