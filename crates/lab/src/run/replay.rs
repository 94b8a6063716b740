//! The replay of a real run from what its nodes recorded.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::agent::{self, AgentState};
use fabnet_core::observe::Agents;
use fabnet_core::{Algorithm, Costs, Oracle, Problem, ProblemExt, RowLayout, Scalar, View, Work};

use crate::results::TrackPoint;

/// All agents of a real run, at the points that their nodes recorded. Private coordinates stayed
/// with the nodes, and are here as they were at the start.
pub struct Replay<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    seed: u64,
    agents: Vec<ReplayedAgent<T>>,
    round: u64,
    /// Seconds from the first recorded point to the newest one so far.
    pub(super) seconds: f64,
    /// The time of the first recorded point, in seconds since the epoch.
    started: f64,
    work: Work<T>,
}

/// One agent of the replay.
struct ReplayedAgent<T> {
    points: Vec<TrackPoint<T>>,
    /// The starting point, with the private coordinates.
    start: Vec<T>,
    state: AgentState<T>,
    /// What it has spent until the present round.
    costs: Costs,
}

impl<T: Scalar> Replay<T> {
    /// Replays the recorded points of each agent.
    pub(super) fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        seed: u64,
        points: Vec<Vec<TrackPoint<T>>>,
    ) -> Self {
        let agent = |(agent, points)| ReplayedAgent {
            points: in_order(points),
            start: algorithm.starting_point(&*problem, agent),
            state: AgentState::new(&*algorithm, problem.private(agent)),
            costs: Costs::default(),
        };
        let agents: Vec<_> = points.into_iter().enumerate().map(agent).collect();
        let started = agents.iter().filter_map(|agent| Some(agent.points.first()?.time)).fold(f64::INFINITY, f64::min);
        let work = Work::default();
        let mut replay = Self { algorithm, problem, seed, agents, round: 0, seconds: 0.0, started, work };
        replay.go_to(0);
        replay
    }

    /// The last round that any agent has recorded.
    pub(super) fn last_round(&self) -> u64 {
        self.agents.iter().filter_map(|agent| Some(agent.points.last()?.round)).max().unwrap_or(0)
    }

    /// Puts every agent where it was after a round, or else where it was last recorded before.
    pub(super) fn go_to(&mut self, round: u64) {
        self.round = round;
        let layout = RowLayout::new(&self.algorithm.segments(0));
        for (number, agent) in self.agents.iter_mut().enumerate() {
            let mut point = agent.start.clone();
            let until_then = agent.points.partition_point(|recorded| recorded.round <= round);
            if let Some(recorded) = agent.points[..until_then].last() {
                point[..recorded.point.len()].copy_from_slice(&recorded.point);
                agent.costs = recorded.costs;
                self.seconds = self.seconds.max(recorded.time - self.started);
            }
            let mut oracle = Oracle::new(&*self.problem, self.seed, number, round, &mut self.work);
            agent::begin(&*self.algorithm, &layout, &point, agent.state.as_fresh(), &mut oracle);
        }
    }

    /// The state of all agents, for observers.
    pub(super) fn view(&self) -> View<'_, T> {
        View {
            round: self.round,
            problem: &*self.problem,
            algorithm: &*self.algorithm,
            costs: self.agents.iter().map(|agent| agent.costs).sum(),
            agents: self,
        }
    }
}

/// Sorts points by round, and adds up costs over all starts of the node: each one counts from zero.
fn in_order<T>(mut points: Vec<TrackPoint<T>>) -> Vec<TrackPoint<T>> {
    let (mut before, mut last) = (Costs::default(), Costs::default());
    for point in &mut points {
        if point.costs.bytes < last.bytes {
            before += last;
        }
        last = point.costs;
        point.costs += before;
    }
    // The sort is stable: of several points of a round the newest comes last, and that one counts.
    points.sort_by_key(|point| point.round);
    points
}

impl<T: Scalar> Agents<T> for Replay<T> {
    fn range(&self) -> Range<usize> {
        0..self.agents.len()
    }

    fn row(&self, agent: usize) -> &[T] {
        &self.agents[agent].state.row
    }

    fn keep(&self, agent: usize) -> &[T] {
        &self.agents[agent].state.memory
    }

    fn input(&self, agent: usize) -> &[T] {
        &self.agents[agent].state.contribution
    }
}
