//! The shard: a contiguous range of agents that mix exactly, in memory.

use std::ops::Range;
use std::sync::Arc;

use super::agent;
use super::dry_run::{DryRun, RoundQueries};
use super::halo::Halo;
use super::layout::RowLayout;
use super::round::{Leaf, Memory, RoundContext, Written};
use super::rows::Rows;
use super::shard_error::ShardError;
use super::view::{Agents, View};
use crate::algorithm::{Fresh, Mask, Request};
use crate::{Algorithm, Costs, Evaluations, Mixing, Network, Oracle, Problem, ProblemExt, Scalar};

/// A contiguous range of agents: all of them, or a part with the rows of the others arriving from
/// outside ([`Shard::receive`]).
///
/// Any partition of the agents into shards, and any number of threads, gives the same bits.
pub struct Shard<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    network: Network,
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
    /// What a round asks for, where gradients come for all agents together.
    queries: Option<RoundQueries<T>>,
    /// Agents between mixing and stepping, in that case: next, keep and input.
    mixed: Option<[Rows<T>; 3]>,
}

/// The whole numbers of a saved state: round, bytes and three kinds of evaluations.
const COUNTS: usize = 5;

impl<T: Scalar> Shard<T> {
    /// A shard of all agents.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        network: Network,
        seed: u64,
    ) -> Result<Self, ShardError> {
        let agents = problem.agents();
        Self::part(algorithm, problem, network, seed, 0..agents)
    }

    /// A shard of some of the agents.
    pub fn part(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        network: Network,
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
            queries: None,
            mixed: None,
        };
        shard.start();
        Ok(shard)
    }

    /// One round: mix, correct, and be ready to send.
    pub fn round(&mut self) -> Result<Request, ShardError> {
        self.network.advance(self.round);
        self.check_arrivals()?;
        let mask = self.algorithm.sends(self.round);
        let links = self.network.current().links_from(self.range.clone());
        let request = self.with_gradients(|shard, problem, again| shard.step(problem, mask, again));
        self.bytes += (links * self.algorithm.message_bytes(self.layout.sent(mask))) as u64;
        std::mem::swap(&mut self.now, &mut self.next);
        self.round += 1;
        Ok(request)
    }

    /// Lets agents do something that needs gradients. Where these are evaluated for all agents at
    /// once, it is done again and again, until every gradient that it needs is known.
    fn with_gradients<R>(&mut self, mut act: impl FnMut(&mut Self, &dyn Problem<T>, bool) -> R) -> R {
        let problem = self.problem.clone();
        let Some(batched) = problem.capabilities().batched else { return act(self, &*problem, false) };
        let start = self.range.start;
        let pieces = self.leaves.iter().map(|leaf| start + leaf.agents.start..start + leaf.agents.end);
        let mut queries = self.queries.take().unwrap_or_else(|| RoundQueries::new(pieces));
        queries.clear();
        let evaluations: Vec<_> = self.leaves.iter().map(|leaf| leaf.work.evaluations).collect();
        let mut again = false;
        loop {
            queries.begin();
            let result = act(self, &DryRun { problem: &*problem, queries: &queries }, again);
            if queries.is_complete(batched, self.round) {
                self.queries = Some(queries);
                return result;
            }
            again = true;
            self.leaves.iter_mut().zip(&evaluations).for_each(|(leaf, before)| leaf.work.evaluations = *before);
        }
    }

    fn step(&mut self, problem: &dyn Problem<T>, mask: Mask, again: bool) -> Request {
        if self.problem.capabilities().batched.is_some() && self.mixed.is_none() {
            self.mixed = Some([self.next.clone(), self.keep.clone(), self.input.clone()]);
        }
        let written = Written {
            agents: memory([&mut self.next, &mut self.keep, &mut self.input]),
            mixed: self.mixed.as_mut().map(|mixed| memory(mixed.each_mut())),
        };
        let leaves = &mut self.leaves;
        let several = leaves.len() > 1;
        let work = |mixing: &Mixing| {
            let context = RoundContext {
                algorithm: &*self.algorithm,
                problem,
                mixing,
                mask,
                layout: &self.layout,
                now: &self.now,
                halo: &self.halo,
                range: self.range.clone(),
                round: self.round,
                seed: self.seed,
                again,
            };
            context.run(leaves, written)
        };
        if several { self.network.current_while_drawing(self.round + 1, work) } else { work(self.network.current()) }
    }

    /// Starts a new epoch at the current points: trackers restart, nothing is in flight.
    pub fn restart(&mut self) {
        let before = [self.now.clone(), self.keep.clone(), self.input.clone()];
        let mut point = Vec::new();
        self.with_gradients(|shard, problem, _| {
            // A dry run has overwritten what was there.
            for (now, before) in [&mut shard.now, &mut shard.keep, &mut shard.input].into_iter().zip(&before) {
                now.copy_from(before);
            }
            for agent in 0..shard.range.len() {
                point.resize(shard.point_width(agent), T::zero());
                shard.algorithm.point(shard.now.row(agent), shard.keep.row(agent), &mut point);
                shard.begin(problem, agent, &point);
            }
        });
    }

    /// The part of an agent's row that its neighbours receive.
    pub fn sent(&self, agent: usize) -> &[T] {
        &self.now.row(agent - self.range.start)[..self.layout.shared]
    }

    /// Takes in what an agent outside this shard sends for the coming round.
    pub fn receive(&mut self, agent: usize, row: &[T]) -> Result<(), ShardError> {
        let (agents, expected, found) = (self.problem.agents(), self.layout.shared, row.len());
        if agent >= agents || self.range.contains(&agent) || found != expected {
            return Err(ShardError::Stranger { agent, agents, expected, found });
        }
        self.halo.receive(agent, self.round, row);
        Ok(())
    }

    /// What observers see of this shard.
    pub fn view(&self) -> View<'_, T> {
        View {
            round: self.round,
            problem: &*self.problem,
            algorithm: &*self.algorithm,
            costs: Costs { bytes: self.bytes, scalar_bytes: self.bytes, evaluations: self.evaluations() },
            agents: self,
        }
    }

    /// How often functions were evaluated, by all agents of the shard.
    pub fn evaluations(&self) -> Evaluations {
        let mut sum = Evaluations::default();
        self.leaves.iter().for_each(|leaf| sum += leaf.work.evaluations);
        sum
    }

    /// The weights of the last round, whose rows name the links that were used; none before the
    /// first round since the shard was made or restored.
    pub fn mixing(&self) -> Option<&Mixing> {
        self.network.last()
    }

    /// Bytes of state kept per agent, on average: rows, what stays, and inputs.
    pub fn state_bytes(&self) -> f64 {
        ((self.now.len() + self.next.len() + self.keep.len() + self.input.len()) * T::BYTES) as f64
            / self.range.len() as f64
    }

    /// Everything a run needs to go on from here, with the same bits, in a shard made in the same
    /// way: everything else is a pure function.
    pub fn save(&self) -> Vec<u8> {
        let evaluations = self.evaluations();
        let counts = [self.round, self.bytes, evaluations.upper, evaluations.lower, evaluations.products];
        let mut state = Vec::with_capacity(self.saved_bytes());
        state.extend(counts.into_iter().flat_map(u64::to_le_bytes));
        for rows in [&self.now, &self.keep, &self.input] {
            rows.all().iter().for_each(|scalar| scalar.write(&mut state));
        }
        state
    }

    /// Goes back to a saved state.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), ShardError> {
        if state.len() != self.saved_bytes() {
            return Err(ShardError::State { expected: self.saved_bytes(), found: state.len() });
        }
        let (counts, scalars) = state.split_at(COUNTS * size_of::<u64>());
        let mut counts = counts.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut count = || counts.next().expect("the length has been checked");
        (self.round, self.bytes) = (count(), count());
        let evaluations = Evaluations { upper: count(), lower: count(), products: count() };
        self.leaves.iter_mut().for_each(|leaf| leaf.work.evaluations = Evaluations::default());
        self.leaves[0].work.evaluations = evaluations;
        let rows = [&mut self.now, &mut self.keep, &mut self.input].into_iter().flat_map(Rows::all_mut);
        rows.zip(scalars.chunks(T::BYTES)).for_each(|(scalar, bytes)| *scalar = T::read(bytes));
        Ok(())
    }

    fn saved_bytes(&self) -> usize {
        COUNTS * size_of::<u64>() + (self.now.len() + self.keep.len() + self.input.len()) * T::BYTES
    }

    fn start(&mut self) {
        self.with_gradients(|shard, problem, _| {
            for rows in [&mut shard.now, &mut shard.keep, &mut shard.input] {
                rows.all_mut().fill(T::zero());
            }
            for agent in 0..shard.range.len() {
                let point = shard.algorithm.starting_point(problem, shard.range.start + agent);
                shard.begin(problem, agent, &point);
            }
        });
    }

    fn begin(&mut self, problem: &dyn Problem<T>, agent: usize, point: &[T]) {
        let (mut now, mut keep, mut input) = (self.now.as_mut(), self.keep.as_mut(), self.input.as_mut());
        let fresh = Fresh { row: now.row(agent), keep: keep.row(agent), input: input.row(agent) };
        let number = self.range.start + agent;
        let mut oracle = Oracle::new(problem, self.seed, number, self.round, &mut self.leaves[0].work);
        agent::begin(&*self.algorithm, &self.layout, point, fresh, &mut oracle);
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

fn memory<T: Scalar>([next, keep, input]: [&mut Rows<T>; 3]) -> Memory<'_, T> {
    Memory { next: next.as_mut(), keep: keep.as_mut(), input: input.as_mut() }
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
