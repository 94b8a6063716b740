//! The shard: a contiguous range of agents that mix exactly, in memory.

use std::ops::Range;
use std::sync::Arc;

use crate::algorithm::{Agent, Fresh, Request};
use crate::halo::Halo;
use crate::observe::{Agents, View};
use crate::rows::{Rows, RowsMut};
use crate::{Algorithm, Evaluations, Kind, Mask, Mixing, Network, Oracle, Problem, Scalar, Segments, Work, linalg};

/// A contiguous range of agents: all of them, or a part with the rows of the others arriving from outside ([`Shard::receive`]).
///
/// Any partition of the agents into shards, and any number of threads, gives the same bits.
pub struct Shard<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    network: Network<T>,
    seed: u64,
    range: Range<usize>,
    round: u64,
    layout: RowLayout,
    now: Rows<T>,
    next: Rows<T>,
    keep: Rows<T>,
    input: Rows<T>,
    halo: Halo<T>,
    leaves: Vec<Leaf<T>>,
    bytes: u64,
}

/// Why a shard cannot be made, or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Problem and topology disagree.
    #[error(
        "the problem is split among {problem} agents, but the topology connects {topology}: give both the same number"
    )]
    Agents {
        /// Of the problem.
        problem: usize,
        /// Of the topology.
        topology: usize,
    },
    /// A range that is empty or reaches beyond the agents.
    #[error("a shard of the agents {start}..{end} does not exist among {agents}")]
    Range {
        /// The first.
        start: usize,
        /// One after the last.
        end: usize,
        /// How many there are.
        agents: usize,
    },
    /// A neighbour's row that has not arrived.
    #[error("round {round} needs the row of agent {agent}, which has not arrived: pass it to `receive` first")]
    Missing {
        /// The round to be carried out.
        round: u64,
        /// Whose row.
        agent: usize,
    },
}

impl<T: Scalar> Shard<T> {
    /// All agents.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        network: Network<T>,
        seed: u64,
    ) -> Result<Self, ShardError> {
        let agents = problem.agents();
        Self::part(algorithm, problem, network, seed, 0..agents)
    }

    /// A part of the agents.
    pub fn part(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        network: Network<T>,
        seed: u64,
        range: Range<usize>,
    ) -> Result<Self, ShardError> {
        let agents = problem.agents();
        if network.agents() != agents {
            return Err(ShardError::Agents { problem: agents, topology: network.agents() });
        }
        if range.is_empty() || range.end > agents {
            return Err(ShardError::Range { start: range.start, end: range.end, agents });
        }
        let layout = RowLayout::new(&algorithm.segments(0));
        let own: Vec<usize> = range.clone().map(|agent| problem.private(agent)).collect();
        let widths = |width: &dyn Fn(usize) -> usize| own.iter().map(|&own| width(own)).collect::<Vec<_>>();
        let now = Rows::new(&widths(&|own| algorithm.segments(own).width()));
        let mut shard = Self {
            next: now.clone(),
            now,
            keep: Rows::new(&widths(&|own| algorithm.keep(own))),
            input: Rows::new(&widths(&|_| layout.pushed)),
            halo: Halo::new(if range.len() == agents { 0 } else { agents }, layout.shared),
            leaves: Leaf::cover(&range, layout.shared),
            layout,
            algorithm,
            problem,
            network,
            seed,
            range,
            round: 0,
            bytes: 0,
        };
        shard.start();
        Ok(shard)
    }

    /// One round: mix, correct, and be ready to send.
    pub fn round(&mut self) -> Result<Request, ShardError> {
        self.network.advance(self.round);
        self.check_arrivals()?;
        let mask = self.algorithm.sends(self.round);
        let task = Task {
            algorithm: &*self.algorithm,
            problem: &*self.problem,
            mixing: self.network.current(),
            mask,
            layout: &self.layout,
            now: &self.now,
            halo: &self.halo,
            range: self.range.clone(),
            round: self.round,
            seed: self.seed,
        };
        let parts = Written { next: self.next.as_mut(), keep: self.keep.as_mut(), input: self.input.as_mut() };
        let request = task.run(&mut self.leaves, parts);
        let links: usize = self.network.current().links_from(self.range.clone());
        self.bytes += (links * self.layout.sent(mask) * T::BYTES) as u64;
        std::mem::swap(&mut self.now, &mut self.next);
        self.round += 1;
        Ok(request)
    }

    /// Starts a new epoch at the current points: trackers restart, nothing is in flight.
    pub fn restart(&mut self) {
        let mut point = Vec::new();
        for agent in 0..self.range.len() {
            point.resize(self.point_width(agent), T::zero());
            self.algorithm.point(self.now.row(agent), self.keep.row(agent), &mut point);
            self.begin(agent, &point);
        }
    }

    /// The part of an agent's row that its neighbours receive.
    pub fn sent(&self, agent: usize) -> &[T] {
        &self.now.row(agent - self.range.start)[..self.layout.shared]
    }

    /// Takes in what an agent outside this shard sends for the coming round.
    pub fn receive(&mut self, agent: usize, row: &[T]) {
        if !self.range.contains(&agent) {
            self.halo.receive(agent, self.round, row);
        }
    }

    /// What observers see.
    pub fn view(&self) -> View<'_, T> {
        View {
            round: self.round,
            problem: &*self.problem,
            algorithm: &*self.algorithm,
            bytes_per_agent: self.bytes as f64 / self.range.len() as f64,
            evaluations: self.evaluations(),
            agents: self,
        }
    }

    /// How often functions were evaluated, by all agents of the shard.
    pub fn evaluations(&self) -> Evaluations {
        let mut sum = Evaluations::default();
        self.leaves.iter().for_each(|leaf| sum += leaf.work.evaluations);
        sum
    }

    /// Bytes of state kept per agent, on average: rows, what stays, and inputs.
    pub fn state_bytes(&self) -> f64 {
        ((self.now.len() + self.next.len() + self.keep.len() + self.input.len()) * T::BYTES) as f64
            / self.range.len() as f64
    }

    fn start(&mut self) {
        let dim = self.problem.dim();
        let (mut x, mut y) = (vec![T::zero(); dim.outer], vec![T::zero(); dim.inner]);
        let mut point = Vec::new();
        for agent in 0..self.range.len() {
            point.clear();
            point.resize(self.point_width(agent), T::zero());
            let (v, own) = point.split_at_mut(self.algorithm.blocks().width());
            x.fill(T::zero());
            y.fill(T::zero());
            self.problem.start(self.range.start + agent, own, &mut x, &mut y);
            self.algorithm.start(&x, &y, v);
            self.begin(agent, &point);
        }
    }

    fn begin(&mut self, agent: usize, point: &[T]) {
        let (mut now, mut keep, mut input) = (self.now.as_mut(), self.keep.as_mut(), self.input.as_mut());
        let (row, input) = (now.row(agent), input.row(agent));
        let mut oracle = Oracle {
            problem: &*self.problem,
            seed: self.seed,
            agent: self.range.start + agent,
            round: self.round,
            work: &mut self.leaves[0].work,
        };
        self.algorithm.begin(point, Fresh { row: &mut *row, keep: keep.row(agent), input: &mut *input }, &mut oracle);
        for part in self.layout.parts.iter().filter(|part| part.kind == Kind::Push) {
            row[part.row.clone()].copy_from_slice(&input[part.input.clone()]);
        }
    }

    fn point_width(&self, agent: usize) -> usize {
        self.algorithm.blocks().width() + self.problem.private(self.range.start + agent)
    }

    fn check_arrivals(&self) -> Result<(), ShardError> {
        if self.range.len() == self.network.agents() {
            return Ok(());
        }
        let wanted = self.range.clone().flat_map(|agent| self.network.current().row(agent).sources);
        let missing = |agent: &usize| !self.range.contains(agent) && !self.halo.has(*agent, self.round);
        match wanted.map(|&source| source as usize).find(missing) {
            Some(agent) => Err(ShardError::Missing { round: self.round, agent }),
            None => Ok(()),
        }
    }
}

impl<T: Scalar> Agents<T> for Shard<T> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    fn row(&self, agent: usize) -> &[T] {
        self.now.row(agent - self.range.start)
    }

    fn keep(&self, agent: usize) -> &[T] {
        self.keep.row(agent - self.range.start)
    }

    fn input(&self, agent: usize) -> &[T] {
        self.input.row(agent - self.range.start)
    }
}

/// The shared part of a row, resolved for the inner loop.
#[derive(Clone, Debug)]
struct RowLayout {
    parts: Vec<Part>,
    segments: Segments,
    shared: usize,
    pushed: usize,
}

#[derive(Clone, Debug)]
struct Part {
    kind: Kind,
    row: Range<usize>,
    /// Where a pushed segment finds its input; empty for the others.
    input: Range<usize>,
}

impl RowLayout {
    fn new(segments: &Segments) -> Self {
        let mut pushed = 0;
        let mut part = |kind, row: Range<usize>| {
            let start = pushed;
            pushed += if kind == Kind::Push { row.len() } else { 0 };
            Part { kind, row, input: start..pushed }
        };
        let parts = segments
            .iter()
            .filter(|(segment, _)| segment.kind != Kind::Own)
            .map(|(segment, row)| part(segment.kind, row))
            .collect();
        Self { parts, segments: segments.clone(), shared: segments.shared(), pushed }
    }

    fn sent(&self, mask: Mask) -> usize {
        self.segments.sent(mask)
    }
}

/// A piece of the shard that one thread works on at a time, with its buffers.
struct Leaf<T> {
    agents: Range<usize>,
    work: Work<T>,
}

impl<T: Scalar> Leaf<T> {
    /// Scalars of a row's shared part that make a piece worth handing to another thread.
    const SCALARS: usize = 1 << 14;
    /// Pieces at most: enough for any number of cores, few enough to cost nothing.
    const LIMIT: usize = 256;

    fn cover(range: &Range<usize>, width: usize) -> Vec<Self> {
        let agents = range.len();
        let pieces = (agents * width / Self::SCALARS).clamp(1, Self::LIMIT.min(agents));
        let bound = |piece: usize| piece * agents / pieces;
        (0..pieces).map(|piece| Self { agents: bound(piece)..bound(piece + 1), work: Work::default() }).collect()
    }
}

/// What a round writes, which is split between threads.
struct Written<'a, T> {
    next: RowsMut<'a, T>,
    keep: RowsMut<'a, T>,
    input: RowsMut<'a, T>,
}

impl<T> Written<'_, T> {
    fn split_at(self, agent: usize) -> (Self, Self) {
        let (next, keep, input) = (self.next.split_at(agent), self.keep.split_at(agent), self.input.split_at(agent));
        (Self { next: next.0, keep: keep.0, input: input.0 }, Self { next: next.1, keep: keep.1, input: input.1 })
    }
}

/// What a round reads.
struct Task<'a, T: Scalar> {
    algorithm: &'a dyn Algorithm<T>,
    problem: &'a dyn Problem<T>,
    mixing: &'a Mixing<T>,
    mask: Mask,
    layout: &'a RowLayout,
    now: &'a Rows<T>,
    halo: &'a Halo<T>,
    range: Range<usize>,
    round: u64,
    seed: u64,
}

impl<T: Scalar> Task<'_, T> {
    /// Divides the pieces between threads.
    fn run(&self, leaves: &mut [Leaf<T>], written: Written<'_, T>) -> Request {
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
            let (now, next) = (self.now.row(agent), written.next.row(agent));
            let (keep, input) = (written.keep.row(agent), written.input.row(agent));
            self.mix(agent, next, input);
            let mut oracle = Oracle {
                problem: self.problem,
                seed: self.seed,
                agent: self.range.start + agent,
                round: self.round,
                work: &mut leaf.work,
            };
            request =
                request.or(self.algorithm.step(Agent { now, next: &mut *next, keep, input: &mut *input }, &mut oracle));
            for part in self.layout.parts.iter().filter(|part| part.kind == Kind::Push) {
                linalg::add(&mut next[part.row.clone()], &input[part.input.clone()]);
            }
        }
        request
    }

    /// Fills `next` with the mixed neighbourhood, less the old level in its pushed segments.
    fn mix(&self, agent: usize, next: &mut [T], input: &[T]) {
        let row = self.mixing.row(self.range.start + agent);
        let now = self.now.row(agent);
        for (index, part) in self.layout.parts.iter().enumerate() {
            let out = &mut next[part.row.clone()];
            match part.kind {
                _ if !self.mask.has(index) => out.copy_from_slice(&now[part.row.clone()]),
                Kind::Pull => self.weighted(out, row.sources, row.pull, part.row.start),
                Kind::Push => self.weighted(out, row.sources, row.push, part.row.start),
                Kind::Max => self.largest(out, row.sources, part.row.start),
                Kind::Own => unreachable!("the layout holds shared segments only"),
            }
            if part.kind == Kind::Push {
                linalg::add_scaled(out, -T::one(), &input[part.input.clone()]);
            }
        }
        next[self.layout.shared..].copy_from_slice(&now[self.layout.shared..]);
    }

    /// The weighted sum of the sources' scalars, four sources a pass.
    fn weighted(&self, out: &mut [T], sources: &[u32], weights: &[T], start: usize) {
        let range = start..start + out.len();
        let row = |source: u32| &self.row(source)[range.clone()];
        let mut onto = false;
        for (s, w) in sources.chunks(4).zip(weights.chunks(4)) {
            match (s, w) {
                (&[s0, s1, s2, s3], &[w0, w1, w2, w3]) => {
                    linalg::combine(out, onto, [w0, w1, w2, w3], [row(s0), row(s1), row(s2), row(s3)]);
                }
                (&[s0, s1, s2], &[w0, w1, w2]) => linalg::combine(out, onto, [w0, w1, w2], [row(s0), row(s1), row(s2)]),
                (&[s0, s1], &[w0, w1]) => linalg::combine(out, onto, [w0, w1], [row(s0), row(s1)]),
                (&[s0], &[w0]) => linalg::combine(out, onto, [w0], [row(s0)]),
                _ => unreachable!("chunks of at most four"),
            }
            onto = true;
        }
    }

    /// The largest of the sources' segments, compared scalar by scalar.
    fn largest(&self, out: &mut [T], sources: &[u32], start: usize) {
        let segment = |source: u32| &self.row(source)[start..start + out.len()];
        let Some((&first, others)) = sources.split_first() else { return };
        let largest = others.iter().map(|&source| segment(source)).fold(segment(first), |best, other| {
            let differs = best.iter().zip(other).find(|(best, other)| best != other);
            if differs.is_some_and(|(&best, &other)| best.largest(other) != best) { other } else { best }
        });
        out.copy_from_slice(largest);
    }

    /// The row of any agent, as it was sent.
    fn row(&self, agent: u32) -> &[T] {
        let agent = agent as usize;
        if self.range.contains(&agent) { self.now.row(agent - self.range.start) } else { self.halo.row(agent) }
    }
}
