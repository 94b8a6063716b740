//! All agents of an experiment as the papers describe them, without ledgers: each share is sent
//! once, and what is lost is lost.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::algorithm::Request;
use fabnet_core::observe::{Agents, View};
use fabnet_core::{Algorithm, Costs, Mask, Network, Oracle, Problem, RowLayout, Scalar, Topology, Weights, Work};

use super::agent::{Share, UnledgeredAgent};
use super::links::{LinkFaults, LossyLinks};

/// An engine that shows what message loss does to an algorithm that assumes reliable links.
pub struct LossyUnledgered<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    layout: RowLayout,
    gradients: GradientSource<T>,
    network: Network,
    agents: Vec<UnledgeredAgent<T>>,
    links: LossyLinks<Share<T>>,
    round: u64,
    /// The number of restarts that the algorithm has requested so far.
    epoch: u64,
    bytes: u64,
}

/// The problem that agents evaluate, and the work that this has cost.
struct GradientSource<T: Scalar> {
    problem: Arc<dyn Problem<T>>,
    seed: u64,
    work: Work<T>,
}

impl<T: Scalar> GradientSource<T> {
    /// The oracle of one agent in one round.
    fn oracle(&mut self, agent: usize, round: u64) -> Oracle<'_, T> {
        Oracle::new(&*self.problem, self.seed, agent, round, &mut self.work)
    }
}

impl<T: Scalar> LossyUnledgered<T> {
    /// All agents of a problem at their starting points.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        topology: Arc<dyn Topology>,
        weights: Arc<dyn Weights>,
        seed: u64,
        faults: LinkFaults,
    ) -> Self {
        let agent = |agent: usize| UnledgeredAgent::new(&*algorithm, &*problem, agent);
        let mut engine = Self {
            agents: (0..problem.agents()).map(agent).collect(),
            network: Network::new(topology, weights),
            links: LossyLinks::new(faults, seed),
            layout: RowLayout::new(&algorithm.segments(0)),
            algorithm,
            gradients: GradientSource { problem, seed, work: Work::default() },
            round: 0,
            epoch: 0,
            bytes: 0,
        };
        for agent in 0..engine.agents.len() {
            engine.begin(agent, &engine.algorithm.starting_point(&*engine.gradients.problem, agent));
        }
        engine
    }

    fn begin(&mut self, agent: usize, point: &[T]) {
        let mut oracle = self.gradients.oracle(agent, self.round);
        self.agents[agent].begin(&*self.algorithm, &self.layout, point, &mut oracle);
    }

    /// Carries out one round: agents that act send, everybody receives, agents that act step.
    pub fn round(&mut self) {
        self.network.advance(self.round);
        let mask = self.algorithm.sends(self.round);
        let acting: Vec<bool> = (0..self.agents.len()).map(|agent| self.links.acts(agent, self.round + 1)).collect();
        self.send(mask, &acting);
        for (to, share) in self.links.arrivals(self.round) {
            self.agents[to].receive(share);
        }
        let request = self.step(mask, &acting);
        self.round += 1;
        if request == Request::Restart {
            self.restart();
        }
    }

    fn send(&mut self, mask: Mask, acting: &[bool]) {
        let scalars = self.algorithm.segments(0).sent(mask);
        if scalars == 0 {
            return;
        }
        for (from, shares) in self.shares(mask, acting).into_iter().enumerate() {
            self.bytes += (shares.len() * self.algorithm.message_bytes(scalars)) as u64;
            self.links.send(self.round, from, shares.into_iter());
        }
    }

    /// The shares of this round by sender, each with its receiver.
    fn shares(&self, mask: Mask, acting: &[bool]) -> Vec<Vec<(usize, Share<T>)>> {
        let shared = self.algorithm.segments(0).shared();
        let rows: Vec<Arc<[T]>> = self.agents.iter().map(|agent| agent.state.row[..shared].into()).collect();
        let mut sent = vec![Vec::new(); rows.len()];
        for target in 0..rows.len() {
            let edges = self.network.current().row(target);
            // The first source of a row is the agent itself.
            for (&from, &push) in edges.sources.iter().zip(edges.push).skip(1) {
                if acting[from as usize] {
                    let row = rows[from as usize].clone();
                    sent[from as usize].push((target, Share { from, row, push, mask, epoch: self.epoch }));
                }
            }
        }
        sent
    }

    /// Lets the acting agents step, and returns the strongest of their requests.
    fn step(&mut self, mask: Mask, acting: &[bool]) -> Request {
        let mut request = Request::Go;
        for (agent, state) in self.agents.iter_mut().enumerate().filter(|(agent, _)| acting[*agent]) {
            let mut oracle = self.gradients.oracle(agent, self.round);
            let mixing = self.network.current();
            let now = (mask, self.epoch);
            request = request.or(state.step(&*self.algorithm, &self.layout, mixing, now, &mut oracle));
        }
        request
    }

    /// Restarts every agent at its current point. The order to restart is never lost: an algorithm
    /// that relies on restarts could not be studied otherwise.
    fn restart(&mut self) {
        self.epoch += 1;
        for agent in 0..self.agents.len() {
            let point = self.view().point(agent);
            self.begin(agent, &point);
        }
    }

    /// Bytes of state per agent, on average: rows, memory and contributions.
    pub fn state_bytes(&self) -> f64 {
        self.agents.iter().map(UnledgeredAgent::state_bytes).sum::<usize>() as f64 / self.agents.len() as f64
    }

    /// The state of the run as observers see it.
    pub fn view(&self) -> View<'_, T> {
        View {
            round: self.round,
            problem: &*self.gradients.problem,
            algorithm: &*self.algorithm,
            costs: Costs { bytes: self.bytes, scalar_bytes: self.bytes, evaluations: self.gradients.work.evaluations },
            agents: self,
        }
    }
}

impl<T: Scalar> Agents<T> for LossyUnledgered<T> {
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
