//! Functions that are evaluated for all agents at once.

use std::ops::Range;

use super::point::{Dim, GradientMut, Level, Point};
use crate::{Scalar, linalg};

/// Evaluates the functions of many agents in one call: one border to another language is crossed,
/// or one product of matrices is made. What single-level methods minimise on such a problem is the
/// sum of its levels: [`SingleLevel`](crate::SingleLevel) is not asked.
pub trait BatchOracle<T: Scalar>: Send + Sync {
    /// Answers the open queries of these batches, which belong to one round, with values and
    /// gradients.
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut QueryBatch<T>]);
}

/// Queries of consecutive agents, one for each: where their functions are to be evaluated, and the
/// answers. Agents are in order in all rows.
#[derive(Clone, Debug)]
pub struct QueryBatch<T> {
    agents: Range<usize>,
    dim: Dim,
    /// Where each agent's private coordinates end in their row.
    ends: Vec<usize>,
    states: Vec<QueryState>,
    /// Where to evaluate: private coordinates, x and y.
    at: [Vec<T>; 3],
    slopes: [Vec<T>; 3],
    values: Vec<T>,
}

/// The state of an agent's query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryState {
    Unasked,
    Open,
    Answered,
}

impl<T: Scalar> QueryBatch<T> {
    /// A batch for these agents, without any query. `private` has the number of each agent's
    /// private coordinates.
    pub fn new(dim: Dim, agents: Range<usize>, private: impl Fn(usize) -> usize) -> Self {
        let ends = agents.clone().scan(0, |end, agent| {
            *end += private(agent);
            Some(*end)
        });
        let (ends, count): (Vec<_>, _) = (ends.collect(), agents.len());
        let rows = || {
            [ends.last().copied().unwrap_or(0), count * dim.outer, count * dim.inner].map(|len| vec![T::zero(); len])
        };
        let (at, slopes) = (rows(), rows());
        Self { agents, dim, ends, states: vec![QueryState::Unasked; count], at, slopes, values: vec![T::zero(); count] }
    }

    /// The agents, one query each.
    pub fn agents(&self) -> Range<usize> {
        self.agents.clone()
    }

    /// Asks for an agent's function at a point.
    pub fn ask(&mut self, at: Point<'_, T>) {
        for (part, from) in [at.own, at.x, at.y].into_iter().enumerate() {
            let place = self.place(part, at.agent);
            self.at[part][place].copy_from_slice(from);
        }
        self.states[at.agent - self.agents.start] = QueryState::Open;
    }

    /// Whether an agent waits for an answer.
    pub fn is_open(&self, agent: usize) -> bool {
        self.states[agent - self.agents.start] == QueryState::Open
    }

    /// The point at which an agent's function is to be evaluated.
    pub fn point(&self, agent: usize, round: u64) -> Point<'_, T> {
        let [own, x, y] = [0, 1, 2].map(|part| &self.at[part][self.place(part, agent)]);
        Point { agent, round, own, x, y }
    }

    /// The rows of x and y of all agents.
    pub fn points(&self) -> [&[T]; 2] {
        [&self.at[1], &self.at[2]]
    }

    /// An agent's value and its gradients in private coordinates, x and y, to be overwritten.
    pub fn answer(&mut self, agent: usize) -> (&mut T, [&mut [T]; 3]) {
        let [own, x, y] = [0, 1, 2].map(|part| self.place(part, agent));
        let [by_own, by_x, by_y] = &mut self.slopes;
        (&mut self.values[agent - self.agents.start], [&mut by_own[own], &mut by_x[x], &mut by_y[y]])
    }

    /// Answers all open queries, from the values of all agents and the rows of their gradients in x
    /// and y.
    pub fn answer_all(&mut self, values: &[T], [by_x, by_y]: [&[T]; 2]) {
        if self.states.iter().all(|state| *state == QueryState::Open) {
            self.values.copy_from_slice(values);
            self.slopes[1].copy_from_slice(by_x);
            self.slopes[2].copy_from_slice(by_y);
            return;
        }
        for agent in self.agents().filter(|&agent| self.is_open(agent)).collect::<Vec<_>>() {
            let (row, x, y) = (agent - self.agents.start, self.place(1, agent), self.place(2, agent));
            self.values[row] = values[row];
            self.slopes[1][x.clone()].copy_from_slice(&by_x[x]);
            self.slopes[2][y.clone()].copy_from_slice(&by_y[y]);
        }
    }

    /// Answers an agent's query with NaN, because there is no answer.
    pub fn refuse(&mut self, agent: usize) {
        let (value, slopes) = self.answer(agent);
        *value = T::nan();
        for slope in slopes {
            slope.fill(T::nan());
        }
    }

    /// The values of all agents.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Adds an agent's gradients, scaled.
    pub fn add_to(&self, agent: usize, to: GradientMut<'_, T>) {
        let (outer, inner) = to.scale;
        for (part, (to, scale)) in [(to.own, outer), (to.x, outer), (to.y, inner)].into_iter().enumerate() {
            if !to.is_empty() {
                linalg::add_scaled(to, scale, &self.slopes[part][self.place(part, agent)]);
            }
        }
    }

    /// Whether the answer at this point is known. NaN counts as equal to NaN: a run that has
    /// diverged would ask again without end.
    pub(crate) fn knows(&self, at: Point<'_, T>) -> bool {
        // No early exit: a loop without branches over all scalars is faster.
        let same =
            |a: &[T], b: &[T]| a.iter().zip(b).fold(true, |same, (a, b)| same & ((a == b) | (a.is_nan() & b.is_nan())));
        let known = self.point(at.agent, at.round);
        self.states[at.agent - self.agents.start] == QueryState::Answered
            && same(known.y, at.y)
            && same(known.x, at.x)
            && same(known.own, at.own)
    }

    /// Forgets all queries and answers.
    pub(crate) fn clear(&mut self) {
        self.states.fill(QueryState::Unasked);
    }

    /// Whether any agent waits for an answer.
    pub(crate) fn has_open(&self) -> bool {
        self.states.contains(&QueryState::Open)
    }

    /// Marks open queries as answered.
    pub(crate) fn close(&mut self) {
        self.states
            .iter_mut()
            .filter(|state| **state == QueryState::Open)
            .for_each(|state| *state = QueryState::Answered);
    }

    /// Where an agent's part of a row is; parts are private coordinates (0), x (1) and y (2).
    fn place(&self, part: usize, agent: usize) -> Range<usize> {
        let row = agent - self.agents.start;
        match part {
            0 => row.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[row],
            1 => row * self.dim.outer..(row + 1) * self.dim.outer,
            _ => row * self.dim.inner..(row + 1) * self.dim.inner,
        }
    }
}
