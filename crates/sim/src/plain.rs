//! What methods do without ledgers: shares are sent once, and what is lost is lost.

use std::ops::Range;
use std::sync::Arc;

use fabnet_core::algorithm::{Agent, Fresh, Request};
use fabnet_core::observe::{Agents, View};
use fabnet_core::{
    Algorithm, Kind, Mask, Mixing, Network, Oracle, Problem, Scalar, Topology, Weights, Work, larger, linalg,
};

use crate::links::{Links, Lossy};

/// All agents of an experiment, as the papers have them, on links that are not as the papers assume.
pub struct Plain<T: Scalar> {
    algorithm: Arc<dyn Algorithm<T>>,
    problem: Arc<dyn Problem<T>>,
    network: Network,
    seed: u64,
    agents: Vec<State<T>>,
    links: Links<Share<T>>,
    round: u64,
    /// How often all began anew, as a method asked for: shares of before are dropped.
    epoch: u64,
    bytes: u64,
    work: Work<T>,
}

struct State<T> {
    now: Vec<T>,
    next: Vec<T>,
    keep: Vec<T>,
    input: Vec<T>,
    /// What has arrived while it slept.
    arrived: Vec<Share<T>>,
}

#[derive(Clone)]
struct Share<T> {
    from: u32,
    row: Arc<[T]>,
    push: f64,
    mask: Mask,
    epoch: u64,
}

impl<T: Scalar> Plain<T> {
    /// All agents of a problem at their start.
    pub fn new(
        algorithm: Arc<dyn Algorithm<T>>,
        problem: Arc<dyn Problem<T>>,
        topology: Arc<dyn Topology>,
        weights: Arc<dyn Weights>,
        seed: u64,
        lossy: Lossy,
    ) -> Self {
        let state = |agent: usize| {
            let own = problem.private(agent);
            let width = algorithm.segments(own).width();
            State {
                now: vec![T::zero(); width],
                next: vec![T::zero(); width],
                keep: vec![T::zero(); algorithm.keep(own)],
                input: vec![T::zero(); algorithm.segments(own).count(Kind::Push)],
                arrived: Vec::new(),
            }
        };
        let mut plain = Self {
            agents: (0..problem.agents()).map(state).collect(),
            network: Network::new(topology, weights),
            links: Links::new(lossy, seed),
            algorithm,
            problem,
            seed,
            round: 0,
            epoch: 0,
            bytes: 0,
            work: Work::default(),
        };
        for agent in 0..plain.agents.len() {
            plain.begin(agent, &plain.algorithm.starting_point(&*plain.problem, agent));
        }
        plain
    }

    /// Everybody begins anew where it is: this news alone is never lost, or methods that ask for it could not be studied.
    fn restart(&mut self) {
        self.epoch += 1;
        for agent in 0..self.agents.len() {
            let point = self.view().point(agent);
            self.begin(agent, &point);
        }
    }

    fn begin(&mut self, agent: usize, point: &[T]) {
        let State { now, keep, input, .. } = &mut self.agents[agent];
        let mut oracle =
            Oracle { problem: &*self.problem, seed: self.seed, agent, round: self.round, work: &mut self.work };
        self.algorithm.begin(point, Fresh { row: &mut *now, keep, input: &mut *input }, &mut oracle);
        add_levels(&*self.algorithm, now, input, T::one());
    }

    /// One round.
    pub fn round(&mut self) {
        self.network.advance(self.round);
        let mask = self.algorithm.sends(self.round);
        let acting: Vec<bool> = (0..self.agents.len()).map(|agent| self.links.acts(agent, self.round + 1)).collect();
        self.send(mask, &acting);
        for (to, share) in self.links.arrivals(self.round) {
            self.agents[to].arrived.push(share);
        }
        let mut request = Request::Go;
        let mut agents = std::mem::take(&mut self.agents);
        for (agent, state) in agents.iter_mut().enumerate().filter(|(agent, _)| acting[*agent]) {
            state.arrived.retain(|share| share.epoch == self.epoch);
            mix(&*self.algorithm, self.network.current(), agent, mask, state);
            let State { now, next, keep, input, .. } = state;
            let mut oracle =
                Oracle { problem: &*self.problem, seed: self.seed, agent, round: self.round, work: &mut self.work };
            request =
                request.or(self.algorithm.step(Agent { now, next: &mut *next, keep, input: &mut *input }, &mut oracle));
            add_levels(&*self.algorithm, next, input, T::one());
            std::mem::swap(now, next);
        }
        self.agents = agents;
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
        let shared = self.algorithm.segments(0).shared();
        let rows: Vec<Arc<[T]>> = self.agents.iter().map(|state| state.now[..shared].into()).collect();
        let mixing = self.network.current();
        let mut sent: Vec<Vec<(usize, Share<T>)>> = vec![Vec::new(); rows.len()];
        for target in 0..rows.len() {
            let row = mixing.row(target);
            for (&from, &push) in
                row.sources[1..].iter().zip(&row.push[1..]).filter(|(from, _)| acting[**from as usize])
            {
                let row = rows[from as usize].clone();
                sent[from as usize].push((target, Share { from, row, push, mask, epoch: self.epoch }));
            }
        }
        for (from, sent) in sent.into_iter().enumerate() {
            self.bytes += (sent.len() * scalars * T::BYTES) as u64;
            self.links.send(self.round, from, sent.into_iter());
        }
    }

    /// Bytes of state kept per agent, on average: rows, what stays, and inputs.
    pub fn state_bytes(&self) -> f64 {
        let scalars = |state: &State<T>| 2 * state.now.len() + state.keep.len() + state.input.len();
        (self.agents.iter().map(scalars).sum::<usize>() * T::BYTES) as f64 / self.agents.len() as f64
    }

    /// What observers see.
    pub fn view(&self) -> View<'_, T> {
        View {
            round: self.round,
            problem: &*self.problem,
            algorithm: &*self.algorithm,
            bytes_per_agent: self.bytes as f64 / self.agents.len() as f64,
            evaluations: self.work.evaluations,
            agents: self,
        }
    }
}

/// Adds multiples of the levels to the pushed segments of a row.
fn add_levels<T: Scalar>(algorithm: &dyn Algorithm<T>, row: &mut [T], mut input: &[T], factor: T) {
    for (_, range) in algorithm.segments(0).iter().filter(|(segment, _)| segment.kind == Kind::Push) {
        let (level, rest) = input.split_at(range.len());
        linalg::add_scaled(&mut row[range], factor, level);
        input = rest;
    }
}

/// Fills `next` from what has arrived, less the old level in its pushed segments.
fn mix<T: Scalar>(algorithm: &dyn Algorithm<T>, mixing: &Mixing, agent: usize, mask: Mask, state: &mut State<T>) {
    let row = mixing.row(agent);
    let State { now, next, input, arrived, .. } = state;
    next.copy_from_slice(now);
    let segments = algorithm.segments(0);
    for (index, (segment, range)) in segments.iter().enumerate() {
        let fresh = || arrived.iter().filter(|share| share.mask.has(index));
        let out = &mut next[range.clone()];
        match segment.kind {
            Kind::Push => {
                if mask.has(index) {
                    linalg::scale(out, T::of(row.push[0]));
                }
                fresh().for_each(|share| linalg::add_scaled(out, T::of(share.push), &share.row[range.clone()]));
            }
            Kind::Pull if mask.has(index) => {
                linalg::scale(out, T::of(row.pull[0]));
                let mut total = row.pull[0];
                for (source, &pull) in row.sources.iter().zip(row.pull).skip(1) {
                    if let Some(share) = fresh().rfind(|share| share.from == *source) {
                        linalg::add_scaled(out, T::of(pull), &share.row[range.clone()]);
                        total += pull;
                    }
                }
                linalg::scale(out, T::of(1.0 / total));
            }
            Kind::Max if mask.has(index) => {
                for share in fresh() {
                    let other = &share.row[range.clone()];
                    if larger(out, other) {
                        out.copy_from_slice(other);
                    }
                }
            }
            Kind::Pull | Kind::Max | Kind::Own => {}
        }
    }
    arrived.clear();
    add_levels(algorithm, next, input, -T::one());
}

impl<T: Scalar> Agents<T> for Plain<T> {
    fn range(&self) -> Range<usize> {
        0..self.agents.len()
    }

    fn row(&self, agent: usize) -> &[T] {
        &self.agents[agent].now
    }

    fn keep(&self, agent: usize) -> &[T] {
        &self.agents[agent].keep
    }

    fn input(&self, agent: usize) -> &[T] {
        &self.agents[agent].input
    }
}
