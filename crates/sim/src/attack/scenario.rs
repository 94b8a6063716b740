//! What is simulated: the cluster, the method that it runs, and the faults.

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, PushSum, Steps};
use fabnet_core::direction::{Difference, Gradient};
use fabnet_core::peer::{SyncMode, WordLength};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::topology::{Complete, ErdosRenyi, OnePeerExponential, Redraw, Ring};
use fabnet_core::{Algorithm, Objective, Problem, Topology};

use super::fault::{ByFault, Fault};

/// A cluster and the faults that are injected into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The seed that everything random comes from.
    pub seed: u64,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of coordinates of each level of the problem.
    pub width: usize,
    /// The length of the words in which scalars and mass travel.
    pub words: WordLength,
    /// Whether rounds wait for messages.
    pub pace: SyncMode,
    /// Which nodes exchange messages.
    pub network: NetworkKind,
    /// The method that peers run.
    pub method: MethodKind,
    /// How likely faults of messages are, and how often others happen, each between 0 and 1.
    pub rates: ByFault<f64>,
    /// The length of the phase in which faults happen, in ticks.
    pub chaos: u64,
    /// Whether nodes seal what they say in their own names.
    pub sealed: bool,
    /// Whether nodes resume in the same incarnation after a crash, if their disks let them.
    pub exact: bool,
    /// Whether to wait at the end until the peers have converged to the solution.
    pub converge: bool,
}

/// The network of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkKind {
    /// A ring of the members that are alive.
    Ring,
    /// One neighbour at a time, at distances that double.
    Exponential,
    /// A random graph with a ring, drawn anew in each round.
    Random,
    /// Everybody sends to everybody.
    Complete,
    /// A ring of given one-way links, and no other connection.
    Contacts,
}

/// The method that simulated peers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Push-pull on the lower level.
    PushPull,
    /// The bilevel method dFAB.
    Dfab,
    /// Push-DIGing on the lower level, with the weights of push-sum.
    PushDiging,
}

impl Scenario {
    /// The scenario of a seed: a random cluster with some of the faults, at random rates.
    pub fn from_seed(seed: u64) -> Self {
        // The order of the draws is part of what a seed means: every field has its place in it.
        let mut stream = Stream::new(seed, EVERYONE, 0, Purpose::Faults);
        let nodes = 2 + stream.below(15);
        let network = NetworkKind::ALL[stream.below(5)];
        let method = MethodKind::DRAWN[stream.below(4)];
        let pace = if stream.below(4) == 0 {
            SyncMode::Lockstep { deadline: 2 + stream.below(6) as u64 }
        } else {
            SyncMode::Free
        };
        let rates = draw_rates(&mut stream);
        let chaos = 60 + stream.below(240) as u64;
        let width = [1, 3, 12][stream.below(3)];
        let exact = stream.below(4) == 0;
        let converge = seed.is_multiple_of(50);
        let words = WordLength::ALL[stream.below(4)];
        let sealed = false;
        let mut scenario =
            Self { seed, nodes, width, words, pace, network, method, rates, chaos, sealed, exact, converge };
        scenario.draw_liar();
        scenario.remove_impossible_faults();
        scenario
    }

    /// Draws whether lives are sealed, in one seed of four, and in half of these whether a member
    /// lies. Without seals it could isolate others for good.
    fn draw_liar(&mut self) {
        // Rounds 0 and 1 of this stream are the scenario's other draws and the sampler's.
        let mut stream = Stream::new(self.seed, EVERYONE, 2, Purpose::Faults);
        let (kind, rate) = (stream.below(8), stream.open01());
        self.sealed = kind < 2;
        self.rates[Fault::Liar] = if kind == 0 { rate } else { 0.0 };
    }

    /// The same scenario without a fault.
    pub fn without(&self, fault: Fault) -> Self {
        let mut other = self.clone();
        other.rates[fault] = 0.0;
        other
    }

    /// The faults that can happen.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(|&fault| self.rates[fault] > 0.0)
    }

    /// Removes faults after which the remaining nodes would not be connected: with given links
    /// nobody may be missing in the end, and a small cluster bears no dead link and no liar that is
    /// expelled.
    fn remove_impossible_faults(&mut self) {
        if self.network == NetworkKind::Contacts {
            for fault in
                [Fault::DeadLink, Fault::Leave, Fault::Replace, Fault::Exodus, Fault::ContactRemoved, Fault::Liar]
            {
                self.rates[fault] = 0.0;
            }
        }
        if self.nodes < 4 {
            for fault in [Fault::DeadLink, Fault::Exodus, Fault::Liar] {
                self.rates[fault] = 0.0;
            }
        }
    }

    /// The largest number of ticks that a round takes.
    pub(super) fn ticks_per_round(&self) -> u64 {
        if let SyncMode::Lockstep { deadline } = self.pace { deadline } else { 1 }
    }

    /// The topology among this many agents.
    pub(super) fn topology(&self, agents: usize) -> Arc<dyn Topology> {
        match self.network {
            NetworkKind::Ring | NetworkKind::Contacts => Arc::new(Ring::new(agents)),
            NetworkKind::Exponential => Arc::new(OnePeerExponential::new(agents)),
            NetworkKind::Random => Arc::new(ErdosRenyi::new(agents, 0.2, self.seed, Redraw::EveryRound).with_ring()),
            NetworkKind::Complete => Arc::new(Complete::new(agents)),
        }
    }

    /// The algorithm, with a step size that is stable in spite of losses and delays.
    pub(super) fn algorithm(&self, problem: &dyn Problem<f64>) -> Arc<dyn Algorithm<f64>> {
        let (step, lower) = (self.step_size(), vec![0.0; problem.dim().outer]);
        let lower = Gradient::at(Objective::Train, lower);
        let built = match self.method {
            MethodKind::PushPull => {
                PushPull::new(problem, lower, Steps::same(step)).map(|method| Arc::new(method) as _)
            }
            MethodKind::Dfab => {
                let steps = Steps::each([("x", 0.4 * step), ("u", step), ("z", step)]);
                PushPull::new(problem, Difference::new(), steps).map(|method| Arc::new(method) as _)
            }
            MethodKind::PushDiging => {
                PushSum::new(problem, lower, Steps::same(step)).map(|method| Arc::new(method) as _)
            }
        };
        built.expect("these step sizes are usable")
    }

    /// Consensus on a ring takes a number of rounds that grows with the square of its length, and
    /// the step size must shrink with it; on better connected networks, with the number of nodes.
    fn step_size(&self) -> f64 {
        let nodes = self.nodes as f64;
        match self.network {
            NetworkKind::Ring | NetworkKind::Contacts => (0.5 / (nodes * nodes)).min(0.05),
            NetworkKind::Exponential | NetworkKind::Random | NetworkKind::Complete => (0.2 / nodes).min(0.05),
        }
    }
}

impl NetworkKind {
    const ALL: [Self; 5] = [Self::Ring, Self::Exponential, Self::Random, Self::Complete, Self::Contacts];
}

impl MethodKind {
    /// The methods as they are drawn: push-pull, the simplest, twice as often as the others.
    const DRAWN: [Self; 4] = [Self::PushPull, Self::PushPull, Self::Dfab, Self::PushDiging];
}

/// Three faults in ten, each at a random rate: combinations of a few find more than all at once.
fn draw_rates(stream: &mut Stream) -> ByFault<f64> {
    let mut rates = ByFault::default();
    for fault in Fault::ALL.into_iter().filter(|&fault| fault != Fault::Liar) {
        let (on, rate) = (stream.open01() < 0.3, stream.open01());
        if on {
            rates[fault] = rate;
        }
    }
    rates
}

#[cfg(test)]
mod tests;
