//! The agents of a real run, put together from what their nodes recorded.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::algorithm::Fresh;
use fabnet_core::observe::Agents;
use fabnet_core::{Algorithm, Kind, Oracle, Problem, Scalar, View, Work};

use crate::setup::Setup;
use crate::track::Mark;

/// Agents at the points that they recorded. What is private to them stayed with them, and is as at the start.
pub struct Joined<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    seed: u64,
    agents: Vec<Agent<T>>,
    round: u64,
    /// Seconds from the first mark to the newest one so far.
    pub(crate) seconds: f64,
    started: f64,
    work: Work<T>,
}

struct Agent<T> {
    marks: Vec<Mark<T>>,
    start: Vec<T>,
    row: Vec<T>,
    keep: Vec<T>,
    input: Vec<T>,
    bytes: u64,
}

impl<T: Scalar> Joined<T> {
    /// From the marks of each agent.
    pub(crate) fn new(setup: &Setup<T>, marks: Vec<Vec<Mark<T>>>) -> Self {
        let (algorithm, problem) = (setup.algorithm.clone(), setup.problem.clone());
        let agent = |(agent, marks)| {
            let own = problem.private(agent);
            Agent {
                marks: in_order(marks),
                start: algorithm.starting_point(&*problem, agent),
                row: vec![T::zero(); algorithm.segments(own).width()],
                keep: vec![T::zero(); algorithm.keep(own)],
                input: vec![T::zero(); algorithm.segments(own).count(Kind::Push)],
                bytes: 0,
            }
        };
        let agents: Vec<_> = marks.into_iter().enumerate().map(agent).collect();
        let started = agents.iter().filter_map(|agent| Some(agent.marks.first()?.time)).fold(f64::INFINITY, f64::min);
        let (seed, work) = (setup.seed(), Work::default());
        let mut joined = Self { algorithm, problem, seed, agents, round: 0, seconds: 0.0, started, work };
        joined.go_to(0);
        joined
    }

    /// The last round of which anybody has recorded anything.
    pub(crate) fn last_round(&self) -> u64 {
        self.agents.iter().filter_map(|agent| Some(agent.marks.last()?.round)).max().unwrap_or(0)
    }

    /// Puts every agent where it was after a round, or where it was last seen before.
    pub(crate) fn go_to(&mut self, round: u64) {
        self.round = round;
        for (number, agent) in self.agents.iter_mut().enumerate() {
            let mut point = agent.start.clone();
            let until_then = agent.marks.partition_point(|mark| mark.round <= round);
            if let Some(mark) = agent.marks[..until_then].last() {
                point[..mark.point.len()].copy_from_slice(&mark.point);
                agent.bytes = mark.bytes;
                self.seconds = self.seconds.max(mark.time - self.started);
            }
            let problem = &*self.problem;
            let mut oracle = Oracle { problem, seed: self.seed, agent: number, round, work: &mut self.work };
            let fresh = Fresh { row: &mut agent.row, keep: &mut agent.keep, input: &mut agent.input };
            self.algorithm.begin(&point, fresh, &mut oracle);
        }
    }

    pub(crate) fn view(&self) -> View<'_, T> {
        let bytes: u64 = self.agents.iter().map(|agent| agent.bytes).sum();
        View {
            round: self.round,
            problem: &*self.problem,
            algorithm: &*self.algorithm,
            bytes_per_agent: bytes as f64 / self.agents.len() as f64,
            evaluations: self.work.evaluations,
            agents: self,
        }
    }
}

/// Marks by round, the newest of each; bytes over all lives.
fn in_order<T>(mut marks: Vec<Mark<T>>) -> Vec<Mark<T>> {
    let (mut before, mut last) = (0, 0);
    for mark in &mut marks {
        if mark.bytes < last {
            before += last;
        }
        last = mark.bytes;
        mark.bytes += before;
    }
    marks.sort_by_key(|mark| mark.round);
    marks
}

impl<T: Scalar> Agents<T> for Joined<T> {
    fn range(&self) -> Range<usize> {
        0..self.agents.len()
    }

    fn row(&self, agent: usize) -> &[T] {
        &self.agents[agent].row
    }

    fn keep(&self, agent: usize) -> &[T] {
        &self.agents[agent].keep
    }

    fn input(&self, agent: usize) -> &[T] {
        &self.agents[agent].input
    }
}
