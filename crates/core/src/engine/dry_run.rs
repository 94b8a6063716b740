//! Dry runs: the gradient requests of a round are collected first and evaluated in one batch.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::{
    BatchOracle, Capabilities, Dim, GradientMut, Level, Point, Problem, ProblemExt, QueryBatch, Scalar, Scratch,
};

/// All queries of a round, collected by dry runs until none is unanswered.
pub(crate) struct RoundQueries<T> {
    pieces: Vec<Mutex<AgentQueries<T>>>,
    /// The first agent of each piece.
    starts: Vec<usize>,
}

/// The queries of the agents that one thread works on.
struct AgentQueries<T> {
    agents: Range<usize>,
    /// For each level, the first queries of all agents, their second ones, and so on.
    queries: [Vec<QueryBatch<T>>; 2],
    /// The number of queries that each agent has made on each level.
    asked: Vec<[usize; 2]>,
    /// Whether all queries of this dry run had an answer.
    complete: bool,
}

impl<T: Scalar> RoundQueries<T> {
    /// The queries of agents in these pieces.
    pub(crate) fn new(pieces: impl Iterator<Item = Range<usize>>) -> Self {
        let piece = |agents: Range<usize>| AgentQueries {
            asked: vec![[0; 2]; agents.len()],
            queries: Default::default(),
            agents,
            complete: false,
        };
        let (starts, pieces) = pieces.map(|agents| (agents.start, Mutex::new(piece(agents)))).unzip();
        Self { pieces, starts }
    }

    /// Forgets all answers, before the first dry run of a round.
    pub(crate) fn clear(&mut self) {
        self.pieces
            .iter_mut()
            .flat_map(|piece| unlocked(piece).queries.iter_mut().flatten())
            .for_each(QueryBatch::clear);
    }

    /// Begins a dry run.
    pub(crate) fn begin(&mut self) {
        for piece in self.pieces.iter_mut().map(unlocked) {
            piece.asked.fill([0; 2]);
            piece.complete = true;
        }
    }

    /// After a dry run: whether every query had an answer. If not, the open ones are answered.
    pub(crate) fn is_complete(&mut self, batched: &dyn BatchOracle<T>, round: u64) -> bool {
        if self.pieces.iter_mut().all(|piece| unlocked(piece).complete) {
            return true;
        }
        for level in [Level::Upper, Level::Lower] {
            let mut pieces: Vec<_> =
                self.pieces.iter_mut().map(|piece| unlocked(piece).queries[level as usize].iter_mut()).collect();
            loop {
                let mut row: Vec<_> = pieces.iter_mut().filter_map(Iterator::next).collect();
                if row.is_empty() {
                    break;
                }
                if row.iter().any(|batch| batch.has_open()) {
                    batched.answer(level, round, &mut row);
                    row.into_iter().for_each(QueryBatch::close);
                }
            }
        }
        false
    }

    /// Adds the gradients at a point if they are known, and queries them otherwise.
    fn add_gradient(&self, problem: &dyn Problem<T>, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>) {
        let piece = self.starts.partition_point(|&start| start <= at.agent) - 1;
        let mut piece = self.pieces[piece].lock().unwrap_or_else(PoisonError::into_inner);
        let AgentQueries { agents, queries, asked, .. } = &mut *piece;
        let (queries, count) = (&mut queries[level as usize], &mut asked[at.agent - agents.start][level as usize]);
        if queries.len() == *count {
            queries.push(QueryBatch::new(problem.dim(), agents.clone(), |agent| problem.private(agent)));
        }
        let batch = &mut queries[*count];
        *count += 1;
        if batch.knows(at) {
            batch.add_to(at.agent, to);
        } else {
            batch.ask(at);
            piece.complete = false;
        }
    }
}

fn unlocked<T>(piece: &mut Mutex<AgentQueries<T>>) -> &mut AgentQueries<T> {
    piece.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// A problem whose gradients come from the queries of a round.
pub(crate) struct DryRun<'a, T: Scalar> {
    pub(crate) problem: &'a dyn Problem<T>,
    pub(crate) queries: &'a RoundQueries<T>,
}

impl<T: Scalar> Problem<T> for DryRun<'_, T> {
    fn agents(&self) -> usize {
        self.problem.agents()
    }

    fn dim(&self) -> Dim {
        self.problem.dim()
    }

    fn start(&self, agent: usize, own: &mut [T], x: &mut [T], y: &mut [T]) {
        self.problem.start(agent, own, x, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: GradientMut<'_, T>, _scratch: &mut Scratch<T>) {
        self.queries.add_gradient(self.problem, level, at, to);
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        self.problem.value(level, at)
    }

    /// A batch is not batched again, and what single-level methods minimise is the sum of the
    /// levels.
    fn capabilities(&self) -> Capabilities<'_, T> {
        Capabilities { batched: None, objective: None, ..self.problem.capabilities() }
    }
}
