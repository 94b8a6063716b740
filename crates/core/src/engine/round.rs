//! One round of a shard: mix, then correct, agent by agent and piece by piece.

use std::ops::Range;

use super::agent;
use super::halo::Halo;
use super::layout::RowLayout;
use super::rows::{Rows, RowsMut};
use crate::algorithm::{Agent, Mask, Request, SegmentKind, larger};
use crate::{Algorithm, Mixing, Oracle, Problem, Scalar, Work, linalg};

/// What a round reads, for all agents.
pub(crate) struct RoundContext<'a, T: Scalar> {
    pub(crate) algorithm: &'a dyn Algorithm<T>,
    pub(crate) problem: &'a dyn Problem<T>,
    pub(crate) mixing: &'a Mixing,
    pub(crate) mask: Mask,
    pub(crate) layout: &'a RowLayout,
    pub(crate) now: &'a Rows<T>,
    pub(crate) halo: &'a Halo<T>,
    pub(crate) range: Range<usize>,
    pub(crate) round: u64,
    pub(crate) seed: u64,
    /// Whether this round was rehearsed before: everything is mixed.
    pub(crate) again: bool,
}

/// A piece of the shard that one thread works on at a time, with its buffers.
pub(crate) struct Leaf<T> {
    pub(crate) agents: Range<usize>,
    pub(crate) work: Work<T>,
}

impl<T: Scalar> Leaf<T> {
    /// Scalars of a row's shared part that make a piece worth handing to another thread.
    const SCALARS: usize = 1 << 14;
    /// Pieces at most: enough for any number of cores, few enough to cost nothing.
    const LIMIT: usize = 256;

    pub(crate) fn cover(range: &Range<usize>, width: usize) -> Vec<Self> {
        let agents = range.len();
        let pieces = (agents * width / Self::SCALARS).clamp(1, Self::LIMIT.min(agents));
        let bound = |piece: usize| piece * agents / pieces;
        (0..pieces).map(|piece| Self { agents: bound(piece)..bound(piece + 1), work: Work::default() }).collect()
    }
}

/// What a round writes, which is split between threads.
pub(crate) struct Written<'a, T> {
    pub(crate) agents: Memory<'a, T>,
    /// Agents as they were between mixing and stepping, where a round is rehearsed: nobody mixes
    /// twice.
    pub(crate) mixed: Option<Memory<'a, T>>,
}

/// The rows of all agents that a round writes.
pub(crate) struct Memory<'a, T> {
    pub(crate) next: RowsMut<'a, T>,
    pub(crate) keep: RowsMut<'a, T>,
    pub(crate) input: RowsMut<'a, T>,
}

/// The slices of one agent that a round writes.
struct AgentSlices<'a, T> {
    next: &'a mut [T],
    keep: &'a mut [T],
    input: &'a mut [T],
}

impl<T> Written<'_, T> {
    fn split_at(self, agent: usize) -> (Self, Self) {
        let (first, second) = self.agents.split_at(agent);
        let (mixed_first, mixed_second) = self.mixed.map(|mixed| mixed.split_at(agent)).unzip();
        (Self { agents: first, mixed: mixed_first }, Self { agents: second, mixed: mixed_second })
    }
}

impl<'a, T> Memory<'a, T> {
    fn split_at(self, agent: usize) -> (Self, Self) {
        let (next, keep, input) = (self.next.split_at(agent), self.keep.split_at(agent), self.input.split_at(agent));
        (Self { next: next.0, keep: keep.0, input: input.0 }, Self { next: next.1, keep: keep.1, input: input.1 })
    }

    /// Takes the slices of the next agent off.
    fn take(&mut self) -> AgentSlices<'a, T> {
        AgentSlices { next: self.next.take_row(), keep: self.keep.take_row(), input: self.input.take_row() }
    }
}

impl<T: Copy> AgentSlices<'_, T> {
    fn copy_from(&mut self, other: &Self) {
        self.next.copy_from_slice(other.next);
        self.keep.copy_from_slice(other.keep);
        self.input.copy_from_slice(other.input);
    }
}

impl<T: Scalar> RoundContext<'_, T> {
    /// Divides the pieces of the shard between threads.
    pub(crate) fn run(&self, leaves: &mut [Leaf<T>], written: Written<'_, T>) -> Request {
        if let [leaf] = leaves {
            return self.run_leaf(leaf, written);
        }
        let (left, right) = leaves.split_at_mut(leaves.len() / 2);
        let (before, after) = written.split_at(right[0].agents.start);
        let (first, second) = rayon::join(|| self.run(left, before), || self.run(right, after));
        first.or(second)
    }

    fn run_leaf(&self, leaf: &mut Leaf<T>, mut written: Written<'_, T>) -> Request {
        let mut request = Request::Go;
        for agent in leaf.agents.clone() {
            let now = self.now.row(agent);
            let mut own = written.agents.take();
            let mut mixed = written.mixed.as_mut().map(Memory::take);
            match &mut mixed {
                Some(mixed) if self.again => own.copy_from(mixed),
                mixed => {
                    self.mix(agent, now, own.next, own.input);
                    if let Some(mixed) = mixed {
                        mixed.copy_from(&own);
                    }
                }
            }
            let AgentSlices { next, keep, input } = own;
            let number = self.range.start + agent;
            let mut oracle = Oracle::new(self.problem, self.seed, number, self.round, &mut leaf.work);
            let slices = Agent { now, next, keep, input };
            request = request.or(agent::step(self.algorithm, self.layout, slices, &mut oracle));
        }
        request
    }

    /// Fills `next` with the mixed neighbourhood, less the old level in its pushed segments.
    fn mix(&self, agent: usize, now: &[T], next: &mut [T], input: &[T]) {
        let row = self.mixing.row(self.range.start + agent);
        for span in &self.layout.spans {
            let out = &mut next[span.row.clone()];
            let level = &input[span.input.clone()];
            match (span.kind, self.mask.has(span.index)) {
                (SegmentKind::Pull, true) => self.weighted_sum(out, row.sources, row.pull, span.row.start, None),
                (SegmentKind::Push, true) => self.weighted_sum(out, row.sources, row.push, span.row.start, Some(level)),
                (SegmentKind::Max, true) => self.largest(out, row.sources, span.row.start),
                (SegmentKind::Push, false) => linalg::sum_scaled(out, &now[span.row.clone()], -T::one(), level),
                (_, false) => out.copy_from_slice(&now[span.row.clone()]),
                (SegmentKind::Private, true) => unreachable!("the layout holds shared segments only"),
            }
        }
        next[self.layout.shared..].copy_from_slice(&now[self.layout.shared..]);
    }

    fn weighted_sum(&self, out: &mut [T], sources: &[u32], weights: &[f64], start: usize, less: Option<&[T]>) {
        match self.now.uniform().filter(|_| self.halo.is_empty()) {
            Some((data, width)) => {
                linalg::weighted_sum(out, weights, Everyone { data: &data[start..], width, sources }, less);
            }
            None => linalg::weighted_sum(out, weights, Anyone { task: self, start, sources }, less),
        }
    }

    /// The largest of the sources' segments.
    fn largest(&self, out: &mut [T], sources: &[u32], start: usize) {
        let segment = |source: u32| &self.row(source)[start..start + out.len()];
        let best = sources[1..]
            .iter()
            .map(|&source| segment(source))
            .fold(segment(sources[0]), |best, other| if larger(best, other) { other } else { best });
        out.copy_from_slice(best);
    }

    /// The row of any agent, as it was sent.
    fn row(&self, agent: u32) -> &[T] {
        let agent = agent as usize;
        if self.range.contains(&agent) { self.now.row(agent - self.range.start) } else { self.halo.row(agent) }
    }
}

/// Segments of the sources' rows, where everybody is here in rows of one width: no look-up is
/// needed to find one.
#[derive(Clone, Copy)]
struct Everyone<'a, T> {
    data: &'a [T],
    width: usize,
    sources: &'a [u32],
}

/// Segments of the sources' rows, wherever these are.
#[derive(Clone, Copy)]
struct Anyone<'a, T: Scalar> {
    task: &'a RoundContext<'a, T>,
    start: usize,
    sources: &'a [u32],
}

impl<'a, T: Scalar> linalg::Gather<'a, T> for Everyone<'a, T> {
    #[inline(always)]
    fn row(self, k: usize, len: usize) -> &'a [T] {
        &self.data[self.sources[k] as usize * self.width..][..len]
    }

    #[inline(always)]
    fn block<const N: usize>(self, k: usize, at: usize) -> &'a [T; N] {
        self.data[self.sources[k] as usize * self.width + at..].first_chunk().expect("columns of a row")
    }
}

impl<'a, T: Scalar> linalg::Gather<'a, T> for Anyone<'a, T> {
    #[inline(always)]
    fn row(self, k: usize, len: usize) -> &'a [T] {
        &self.task.row(self.sources[k])[self.start..][..len]
    }

    #[inline(always)]
    fn block<const N: usize>(self, k: usize, at: usize) -> &'a [T; N] {
        self.task.row(self.sources[k])[self.start + at..].first_chunk().expect("columns of a row")
    }
}
