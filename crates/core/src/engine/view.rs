//! What can be seen of a run.

use std::ops::Range;

use crate::{Algorithm, Costs, Level, Optimum, Problem, ProblemExt, Scalar, SegmentKind, Solutions, Whose, linalg};

/// What observers see of a run.
#[derive(Clone, Copy)]
pub struct View<'a, T: Scalar> {
    /// The number of rounds carried out so far.
    pub round: u64,
    /// The problem that is being solved.
    pub problem: &'a dyn Problem<T>,
    /// The method that solves it.
    pub algorithm: &'a dyn Algorithm<T>,
    /// What all agents have spent so far.
    pub costs: Costs,
    /// The state of the agents.
    pub agents: &'a dyn Agents<T>,
}

/// The state of agents, for those who look.
pub trait Agents<T> {
    /// The agents that there are.
    fn range(&self) -> Range<usize>;
    /// An agent's row, as it is sent next.
    fn row(&self, agent: usize) -> &[T];
    /// What stays with an agent between rounds.
    fn keep(&self, agent: usize) -> &[T];
    /// What an agent contributes to pushed segments.
    fn input(&self, agent: usize) -> &[T];
}

impl<T: Scalar> View<'_, T> {
    /// The bytes that an agent has sent so far, on average.
    pub fn bytes_per_agent(&self) -> f64 {
        self.per_agent(self.costs.bytes)
    }

    /// The part of a cost of all agents that is one agent's, on average.
    pub fn per_agent(&self, cost: u64) -> f64 {
        cost as f64 / self.agents.range().len() as f64
    }

    /// An agent's point, private coordinates last.
    pub fn point(&self, agent: usize) -> Vec<T> {
        let mut point = Vec::new();
        self.write_point(agent, &mut point);
        point
    }

    /// Overwrites a vector with an agent's point, so that one serves for all.
    pub fn write_point(&self, agent: usize, point: &mut Vec<T>) {
        point.resize(self.algorithm.blocks().width() + self.problem.private(agent), T::zero());
        self.algorithm.point(self.agents.row(agent), self.agents.keep(agent), point);
    }

    /// The shared part of a point.
    fn point_of(&self, of: Whose) -> Vec<T> {
        match of {
            Whose::Mean => self.mean(),
            Whose::Agent(agent) => {
                let mut point = self.point(agent);
                point.truncate(self.algorithm.blocks().width());
                point
            }
        }
    }

    /// The shared points, averaged over the agents.
    pub fn mean(&self) -> Vec<T> {
        let width = self.algorithm.blocks().width();
        let (mut mean, mut point) = (vec![T::zero(); width], Vec::new());
        for agent in self.agents.range() {
            self.write_point(agent, &mut point);
            linalg::add(&mut mean, &point[..width]);
        }
        linalg::scale(&mut mean, T::of(1.0 / self.agents.range().len() as f64));
        mean
    }

    /// `Σ pushed − Σ input`, its largest scalar: 0 up to rounding, or mass was lost or counted
    /// twice.
    pub fn mass_residual(&self) -> T {
        let segments = self.algorithm.segments(0);
        let mut sum = vec![T::zero(); segments.count(SegmentKind::Push)];
        for agent in self.agents.range() {
            linalg::add_scaled(&mut sum, -T::one(), self.agents.input(agent));
            let mut rest = sum.as_mut_slice();
            for (_, range) in segments.iter().filter(|(segment, _)| segment.kind == SegmentKind::Push) {
                let (part, after) = rest.split_at_mut(range.len());
                linalg::add(part, &self.agents.row(agent)[range]);
                rest = after;
            }
        }
        sum.into_iter().map(num_traits::Float::abs).fold(T::zero(), Scalar::largest)
    }

    /// `‖x̄ − x*‖/‖x*‖` of the mean point, for the outer variable, or for the inner one of a
    /// single-level problem.
    pub fn relative_error(&self, optimum: &Optimum<T>) -> T {
        self.relative_error_of(&self.mean(), optimum)
    }

    /// The relative error of any shared point.
    pub fn relative_error_of(&self, point: &[T], optimum: &Optimum<T>) -> T {
        let (found, known) = (self.measured(point), optimum.measured());
        (linalg::distance_squared(found, known) / linalg::norm_squared(known)).sqrt()
    }

    /// The consensus error: how far agents are spread around their mean, in what errors are
    /// measured in.
    pub fn consensus(&self, mean: &[T]) -> f64 {
        self.spread(mean, self.measured_level())
    }

    /// The root mean square of agents' distances from their mean, in the outer or in the inner
    /// variable.
    pub fn spread(&self, mean: &[T], level: Level) -> f64 {
        let mut point = Vec::new();
        let distance = |agent| {
            self.write_point(agent, &mut point);
            linalg::distance_squared(self.variable(&point[..mean.len()], level), self.variable(mean, level)).f64()
        };
        let agents = self.agents.range();
        (agents.clone().map(distance).sum::<f64>() / agents.len() as f64).sqrt()
    }

    /// What errors are measured in: the outer variable of a shared point, or the inner one of a
    /// single-level problem.
    pub(crate) fn measured<'p>(&'p self, point: &'p [T]) -> &'p [T] {
        self.variable(point, self.measured_level())
    }

    fn measured_level(&self) -> Level {
        if self.problem.dim().outer == 0 { Level::Lower } else { Level::Upper }
    }

    fn variable<'p>(&'p self, point: &'p [T], level: Level) -> &'p [T] {
        let (x, y) = self.algorithm.direction().solution(self.problem.dim(), point);
        if level == Level::Upper { x } else { y }
    }

    /// The agent whose point is largest, one that is not finite before all others.
    pub fn furthest(&self) -> usize {
        let size = |agent: &usize| linalg::norm_squared(&self.point(*agent)).f64();
        let sized = self.agents.range().map(|agent| (size(&agent), agent));
        sized
            .fold((f64::NEG_INFINITY, 0), |best, next| {
                if best.0.total_cmp(&next.0.abs()).is_lt() { (next.0.abs(), next.1) } else { best }
            })
            .1
    }
}

impl<T: Scalar> Solutions<T> for View<'_, T> {
    fn agents(&self) -> Range<usize> {
        self.agents.range()
    }

    fn variables(&self, of: Whose) -> (Vec<T>, Vec<T>) {
        let point = self.point_of(of);
        let (x, y) = self.algorithm.direction().solution(self.problem.dim(), &point);
        (x.to_vec(), y.to_vec())
    }

    fn block(&self, of: Whose, name: &str) -> Option<Vec<T>> {
        Some(self.point_of(of)[self.algorithm.blocks().range(name)?].to_vec())
    }

    fn private(&self, agent: usize) -> Vec<T> {
        self.point(agent).split_off(self.algorithm.blocks().width())
    }
}
