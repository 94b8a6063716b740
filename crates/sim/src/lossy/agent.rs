//! One agent of an unledgered run: its state, its beginning, its mixing and its step.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::agent::{self, AgentState};
use fabnet_core::algorithm::{Agent, Request};
use fabnet_core::{
    Algorithm, Mask, Mixing, Oracle, Problem, ProblemExt, Row, RowLayout, Scalar, SegmentKind, larger, linalg,
};

/// The state of an agent that mixes whatever shares have arrived.
pub(super) struct UnledgeredAgent<T> {
    /// The agent's row, memory and contribution.
    pub(super) state: AgentState<T>,
    /// The row under construction; the two are swapped at the end of a step.
    next: Vec<T>,
    /// Shares that wait for the agent's next step.
    arrived: Vec<Share<T>>,
}

/// What one agent sends to another in a round: its row, and how much of it is pushed.
#[derive(Clone)]
pub(super) struct Share<T> {
    pub(super) from: u32,
    pub(super) row: Arc<[T]>,
    /// The column-stochastic weight of this edge.
    pub(super) push: f64,
    /// The segments that are exchanged in the round of sending.
    pub(super) mask: Mask,
    /// Shares of an earlier epoch are dropped.
    pub(super) epoch: u64,
}

impl<T: Scalar> UnledgeredAgent<T> {
    /// An agent with space for its rows; [`begin`](Self::begin) fills them.
    pub(super) fn new(algorithm: &dyn Algorithm<T>, problem: &dyn Problem<T>, agent: usize) -> Self {
        let state = AgentState::new(algorithm, problem.private(agent));
        Self { next: state.row.clone(), state, arrived: Vec::new() }
    }

    /// Sets the agent to the algorithm's initial state at a point.
    pub(super) fn begin(
        &mut self,
        algorithm: &dyn Algorithm<T>,
        layout: &RowLayout,
        point: &[T],
        oracle: &mut Oracle<'_, T>,
    ) {
        agent::begin(algorithm, layout, point, self.state.as_fresh(), oracle);
    }

    /// Takes a share that counts in the agent's next step.
    pub(super) fn receive(&mut self, share: Share<T>) {
        self.arrived.push(share);
    }

    /// Mixes the shares of this epoch that have arrived, and takes the algorithm's step.
    pub(super) fn step(
        &mut self,
        algorithm: &dyn Algorithm<T>,
        layout: &RowLayout,
        mixing: &Mixing,
        (mask, epoch): (Mask, u64),
        oracle: &mut Oracle<'_, T>,
    ) -> Request {
        self.arrived.retain(|share| share.epoch == epoch);
        self.mix(algorithm, layout, mixing.row(oracle.agent), mask);
        let AgentState { row, memory, contribution } = &mut self.state;
        let agent = Agent { now: row, next: &mut self.next, keep: memory, input: contribution };
        let request = agent::step(algorithm, layout, agent, oracle);
        std::mem::swap(row, &mut self.next);
        request
    }

    /// Fills `next` with the mixed row, without the agent's contribution to the pushed segments.
    fn mix(&mut self, algorithm: &dyn Algorithm<T>, layout: &RowLayout, row: Row<'_>, mask: Mask) {
        self.next.copy_from_slice(&self.state.row);
        for (index, (segment, range)) in algorithm.segments(0).iter().enumerate() {
            let exchanged = mask.has(index);
            let received = Received { shares: &self.arrived, index, range: range.clone() };
            let out = &mut self.next[range];
            match segment.kind {
                // A late share is pushed mass like any other, also in rounds without this segment.
                SegmentKind::Push => received.push(out, if exchanged { row.push[0] } else { 1.0 }),
                SegmentKind::Pull if exchanged => received.pull(out, row.sources, row.pull),
                SegmentKind::Max if exchanged => received.keep_largest(out),
                SegmentKind::Pull | SegmentKind::Max | SegmentKind::Private => {}
            }
        }
        self.arrived.clear();
        for span in layout.pushed() {
            let contribution = &self.state.contribution[span.input.clone()];
            linalg::add_scaled(&mut self.next[span.row.clone()], -T::one(), contribution);
        }
    }

    /// Bytes of the state that stays between rounds.
    pub(super) fn state_bytes(&self) -> usize {
        let AgentState { row, memory, contribution } = &self.state;
        (2 * row.len() + memory.len() + contribution.len()) * T::BYTES
    }
}

/// One segment of all shares that have arrived.
struct Received<'a, T> {
    shares: &'a [Share<T>],
    /// The number of the segment, as masks count.
    index: usize,
    /// Its place in a row.
    range: Range<usize>,
}

impl<'a, T: Scalar> Received<'a, T> {
    /// The shares that carry the segment, each with its scalars, in the order of arrival.
    fn parts(&self) -> impl DoubleEndedIterator<Item = (&'a Share<T>, &'a [T])> {
        let carries = self.shares.iter().filter(|share| share.mask.has(self.index));
        carries.map(|share| (share, &share.row[self.range.clone()]))
    }

    /// Keeps this fraction of a pushed segment, and adds what was received.
    fn push(&self, out: &mut [T], kept: f64) {
        linalg::scale(out, T::of(kept));
        self.parts().for_each(|(share, part)| linalg::add_scaled(out, T::of(share.push), part));
    }

    /// Averages a pulled segment with the newest share of each source that was heard. The weights
    /// are renormalised, so that a missing source does not shrink the result.
    fn pull(&self, out: &mut [T], sources: &[u32], weights: &[f64]) {
        // The first source of an agent is the agent itself.
        linalg::scale(out, T::of(weights[0]));
        let mut total = weights[0];
        for (source, &weight) in sources.iter().zip(weights).skip(1) {
            if let Some((_, part)) = self.parts().rfind(|(share, _)| share.from == *source) {
                linalg::add_scaled(out, T::of(weight), part);
                total += weight;
            }
        }
        linalg::scale(out, T::of(1.0 / total));
    }

    /// Replaces a segment by the largest that was received, if that is larger.
    fn keep_largest(&self, out: &mut [T]) {
        for (_, part) in self.parts() {
            if larger(out, part) {
                out.copy_from_slice(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share of one segment with two scalars.
    fn share(from: u32, row: [f64; 2], mask: Mask) -> Share<f64> {
        Share { from, row: row.into(), push: 0.5, mask, epoch: 0 }
    }

    fn received(shares: &[Share<f64>]) -> Received<'_, f64> {
        Received { shares, index: 0, range: 0..2 }
    }

    #[test]
    fn pushed_mass_is_added_to_the_fraction_that_is_kept() {
        let mut out = [8.0, 4.0];
        received(&[share(1, [2.0, 6.0], Mask::ALL), share(1, [2.0, 0.0], Mask::ALL)]).push(&mut out, 0.25);
        assert_eq!(out, [4.0, 4.0], "late shares of the same sender count as well");
    }

    #[test]
    fn pulling_takes_the_newest_share_and_renormalises_for_missing_sources() {
        let (sources, weights) = ([0, 1, 2], [0.5, 0.25, 0.25]);
        let mut out = [8.0, 4.0];
        let one = [share(1, [100.0, 100.0], Mask::ALL), share(1, [2.0, 10.0], Mask::ALL)];
        received(&one).pull(&mut out, &sources, &weights);
        assert_eq!(out, [(0.5 * 8.0 + 0.25 * 2.0) / 0.75, (0.5 * 4.0 + 0.25 * 10.0) / 0.75]);
        let mut alone = [8.0, 4.0];
        received(&[]).pull(&mut alone, &sources, &weights);
        assert_eq!(alone, [8.0, 4.0], "an agent that hears nobody keeps its row");
    }

    #[test]
    fn the_largest_segment_is_kept() {
        let mut out = [2.0, 1.0];
        received(&[share(1, [3.0, 0.0], Mask::ALL), share(2, [1.0, 9.0], Mask::ALL)]).keep_largest(&mut out);
        assert_eq!(out, [3.0, 0.0]);
    }

    #[test]
    fn shares_without_the_segment_do_not_count() {
        let mut out = [2.0, 1.0];
        let other = [share(1, [9.0, 9.0], Mask::of([1]))];
        received(&other).push(&mut out, 1.0);
        received(&other).keep_largest(&mut out);
        assert_eq!(out, [2.0, 1.0]);
    }
}
