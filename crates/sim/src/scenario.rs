//! What happens in a simulation: drawn from its seed, or by name.

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, PushSum, Steps};
use fabnet_core::direction::{Difference, Gradient};
use fabnet_core::peer::Pace;
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::topology::{Complete, ErdosRenyi, OnePeerExponential, Redraw, Ring};
use fabnet_core::{Algorithm, Objective, Problem, Topology};

use crate::fault::{ByFault, Fault};

/// Who does what, and what goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Everything random comes from it.
    pub seed: u64,
    /// How many nodes there are.
    pub nodes: usize,
    /// Coordinates of each level of the problem.
    pub width: usize,
    /// Whether rounds wait.
    pub pace: Pace,
    /// Who hears whom.
    pub network: NetworkKind,
    /// What peers do.
    pub method: MethodKind,
    /// How likely faults of messages are, and how often others happen.
    pub rates: ByFault<f64>,
    /// Ticks in which faults happen.
    pub chaos: u64,
    /// Whether nodes go on in the same life after a crash, if their disks let them.
    pub exact: bool,
    /// Whether to wait for the solution at the end.
    pub converge: bool,
}

/// Who hears whom in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkKind {
    /// A ring of those that live.
    Ring,
    /// One neighbour at a time, at distances that double.
    Exponential,
    /// A random graph with a ring, another one in each round.
    Random,
    /// Everybody.
    Complete,
    /// A ring of given one-way links, and no other way.
    Contacts,
}

/// What simulated peers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Push-pull on the lower level.
    PushPull,
    /// dFAB.
    Dfab,
    /// Push-DIGing on the lower level: with push-sum's weights.
    PushDiging,
}

impl Scenario {
    /// What a seed brings: some faults of the list, at random rates.
    pub fn from_seed(seed: u64) -> Self {
        let mut stream = Stream::new(seed, EVERYONE, 0, Purpose::Faults);
        let nodes = 2 + stream.below(15);
        let network = [
            NetworkKind::Ring,
            NetworkKind::Exponential,
            NetworkKind::Random,
            NetworkKind::Complete,
            NetworkKind::Contacts,
        ][stream.below(5)];
        let method =
            [MethodKind::PushPull, MethodKind::PushPull, MethodKind::Dfab, MethodKind::PushDiging][stream.below(4)];
        let pace =
            if stream.below(4) == 0 { Pace::Lockstep { deadline: 2 + stream.below(6) as u64 } } else { Pace::Free };
        let mut rates = ByFault::default();
        for fault in Fault::ALL {
            let (on, rate) = (stream.open01() < 0.3, stream.open01());
            if on {
                rates[fault] = rate;
            }
        }
        let chaos = 60 + stream.below(240) as u64;
        let mut scenario = Self {
            seed,
            nodes,
            width: 1 + stream.below(3),
            pace,
            network,
            method,
            rates,
            chaos,
            exact: stream.below(4) == 0,
            converge: seed.is_multiple_of(50),
        };
        scenario.leave_out_what_cannot_be();
        scenario
    }

    /// Without a fault.
    pub fn without(&self, fault: Fault) -> Self {
        let mut other = self.clone();
        other.rates[fault] = 0.0;
        other
    }

    /// The faults that happen.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(|&fault| self.rates[fault] > 0.0)
    }

    /// On given links nobody may be missing in the end, and no link may be dead, or the rest would not be connected.
    fn leave_out_what_cannot_be(&mut self) {
        if self.network == NetworkKind::Contacts {
            for fault in [Fault::DeadLink, Fault::Leave, Fault::Replace, Fault::Exodus, Fault::ContactRemoved] {
                self.rates[fault] = 0.0;
            }
        }
        if self.nodes < 4 {
            for fault in [Fault::DeadLink, Fault::Exodus] {
                self.rates[fault] = 0.0;
            }
        }
    }

    /// By name, for the docs; none if there is no such name.
    pub fn named(name: &str, seed: u64) -> Option<Self> {
        let (_, _, faults) = NAMED.iter().find(|(known, _, _)| *known == name)?;
        let mut rates = ByFault::default();
        faults.iter().for_each(|&(fault, rate)| rates[fault] = rate);
        Some(Self {
            seed,
            nodes: 8,
            width: 16,
            pace: Pace::Free,
            network: NetworkKind::Exponential,
            method: MethodKind::PushPull,
            rates,
            chaos: 300,
            exact: false,
            converge: true,
        })
    }

    pub(crate) fn topology(&self, agents: usize) -> Arc<dyn Topology> {
        match self.network {
            NetworkKind::Ring | NetworkKind::Contacts => Arc::new(Ring::new(agents)),
            NetworkKind::Exponential => Arc::new(OnePeerExponential::new(agents)),
            NetworkKind::Random => Arc::new(ErdosRenyi::new(agents, 0.2, self.seed, Redraw::EveryRound).with_ring()),
            NetworkKind::Complete => Arc::new(Complete::new(agents)),
        }
    }

    pub(crate) fn algorithm(&self, problem: &dyn Problem<f64>) -> Arc<dyn Algorithm<f64>> {
        let agents = self.nodes as f64;
        // What the slowest network of this kind bears, with losses and delays.
        let step = match self.network {
            NetworkKind::Ring | NetworkKind::Contacts => (0.5 / (agents * agents)).min(0.05),
            NetworkKind::Exponential | NetworkKind::Random | NetworkKind::Complete => (0.2 / agents).min(0.05),
        };
        let built = match self.method {
            MethodKind::PushPull => PushPull::new(
                problem,
                Gradient::at(Objective::Train, vec![0.0; problem.dim().outer]),
                Steps::same(step),
            )
            .map(|method| Arc::new(method) as _),
            MethodKind::Dfab => {
                let steps = Steps::each([("x", 0.4 * step), ("u", step), ("z", step)]);
                PushPull::new(problem, Difference::new(), steps).map(|method| Arc::new(method) as _)
            }
            MethodKind::PushDiging => {
                PushSum::new(problem, Gradient::at(Objective::Train, vec![0.0; problem.dim().outer]), Steps::same(step))
                    .map(|method| Arc::new(method) as _)
            }
        };
        built.expect("these steps are usable")
    }
}

type Named = (&'static str, &'static str, &'static [(Fault, f64)]);

/// Scenarios by name, with what happens in them.
pub const NAMED: &[Named] = &[
    ("calm", "nothing goes wrong", &[]),
    ("loss", "a third of all messages is lost", &[(Fault::Loss, 0.55)]),
    ("burst-loss", "links lose everything for a while", &[(Fault::Burst, 0.9), (Fault::Loss, 0.1)]),
    ("one-way-partition", "half of the nodes cannot hear the other half for a while", &[(Fault::OneWayPartition, 0.9)]),
    ("partition", "two halves cannot hear each other for a while", &[(Fault::Partition, 0.9)]),
    ("rolling-restart", "node after node stops and comes back", &[(Fault::Crash, 1.0)]),
    ("mass-exodus", "all but two stop", &[(Fault::Exodus, 0.9)]),
    (
        "flaky-disk",
        "nodes stop, and their disks tear, lose and rot what was written",
        &[
            (Fault::Crash, 1.0),
            (Fault::TornWrite, 0.3),
            (Fault::LostWrite, 0.3),
            (Fault::BitRot, 0.3),
            (Fault::FullDisk, 0.9),
        ],
    ),
    (
        "false-alarm",
        "nodes think of each other that they are gone",
        &[(Fault::FalseSuspicion, 1.0), (Fault::MutualSuspicion, 0.9)],
    ),
    ("dead-link", "a link is dead, one way, and nobody says so", &[(Fault::DeadLink, 0.9)]),
    (
        "churn",
        "nodes come and go",
        &[(Fault::Join, 0.9), (Fault::Leave, 0.5), (Fault::Replace, 0.9), (Fault::Crash, 0.9)],
    ),
    (
        "everything",
        "all of it",
        &[
            (Fault::Loss, 0.4),
            (Fault::Burst, 0.5),
            (Fault::Duplicate, 0.5),
            (Fault::Reorder, 0.5),
            (Fault::Delay, 0.5),
            (Fault::Partition, 0.5),
            (Fault::Crash, 0.9),
            (Fault::LostDisk, 0.5),
            (Fault::Pause, 0.5),
            (Fault::MutualSuspicion, 0.5),
            (Fault::EpochRace, 0.5),
            (Fault::Replay, 0.5),
            (Fault::BadGradient, 0.5),
        ],
    ),
];
