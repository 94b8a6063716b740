//! The cells of the yardstick: a problem, a network, a number of agents, a method, and noise.

use std::fmt;
use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps, StepsError};
use fabnet_core::direction::{Difference, Gradient, Penalty, Soba};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::topology::{
    ContactPlan, ErdosRenyi, MixedRadix, OnePeerExponential, Phases, Redraw, Ring, Undirected, automatic,
};
use fabnet_core::{Algorithm, Dim, Problem, Topology};
use fabnet_problems::{BilevelQuadratic, PolicyEvaluation, Quadratic, SmoothBilevel};

/// What is solved, on which network, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The name of the problem.
    pub problem: &'static str,
    /// The name of the network.
    pub network: &'static str,
    /// The number of agents.
    pub agents: usize,
    /// The name of the method.
    pub method: &'static str,
    /// Whether gradients are noisy.
    pub noisy: bool,
}

/// The penalty of FAB, with which its solution is biased by a few per cent.
const PENALTY: f64 = 60.0;

const PROBLEMS: [&str; 6] = [
    "policy-evaluation",
    "bilevel-quadratic-2",
    "bilevel-quadratic-10",
    "bilevel-quadratic-50",
    "smooth-bilevel",
    "quadratic",
];
const NETWORKS: [&str; 8] =
    ["phases", "ring", "undirected-ring", "one-peer", "mixed-radix", "random", "contact-plan", "auto"];

impl Cell {
    /// The error at which a cell counts as solved: FAB has a bias that no step size removes.
    pub fn target(&self) -> f64 {
        if self.method == "fab" { 6.0 / PENALTY } else { 1e-4 }
    }

    /// Draws the problem.
    pub fn make_problem(&self, seed: u64) -> Arc<dyn Problem<f64>> {
        let noise = if self.noisy { 1.0 } else { 0.0 };
        let quadratic =
            |condition| Arc::new(BilevelQuadratic::new(self.agents, Dim { outer: 3, inner: 5 }, condition, 0.5, seed));
        match self.problem {
            "policy-evaluation" => Arc::new(PolicyEvaluation::new(self.agents, seed).with_noise(noise)),
            "bilevel-quadratic-2" => quadratic(2.0),
            "bilevel-quadratic-10" => quadratic(10.0),
            "bilevel-quadratic-50" => quadratic(50.0),
            "smooth-bilevel" => Arc::new(SmoothBilevel::new(self.agents, seed)),
            _ if self.noisy => Arc::new(Quadratic::new(self.agents, 6, 5.0, 1.0, seed).with_batches(10, noise)),
            _ => Arc::new(Quadratic::new(self.agents, 6, 5.0, 1.0, seed)),
        }
    }

    /// Draws the network.
    pub fn make_topology(&self, seed: u64) -> Arc<dyn Topology> {
        let agents = self.agents;
        match self.network {
            "phases" => Arc::new(Phases::new(agents, 0.3, seed)),
            "ring" => Arc::new(Ring::new(agents)),
            "undirected-ring" => Arc::new(Undirected::new(Box::new(Ring::new(agents)))),
            "one-peer" => Arc::new(OnePeerExponential::new(agents)),
            "mixed-radix" => Arc::new(MixedRadix::new(agents)),
            "random" => Arc::new(ErdosRenyi::new(agents, 0.3, seed, Redraw::EveryRound).with_ring()),
            "contact-plan" => Arc::new(contact_plan(agents)),
            _ => automatic(agents).0.into(),
        }
    }

    /// Puts the method together.
    pub fn make_method(&self, problem: &dyn Problem<f64>, steps: Steps) -> Result<Arc<dyn Algorithm<f64>>, StepsError> {
        Ok(match self.method {
            "dfab" => Arc::new(PushPull::new(problem, Difference::new(), steps)?),
            "fab" => Arc::new(PushPull::new(problem, Penalty::new(PENALTY), steps)?),
            "push-pull-soba" => Arc::new(PushPull::new(problem, Soba::new(), steps)?),
            _ => Arc::new(PushPull::new(problem, Gradient::new(), steps)?),
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, network, agents, method, noisy } = self;
        write!(formatter, "{problem}\t{network}\t{agents}\t{method}\t{}", if *noisy { "noise" } else { "exact" })
    }
}

/// Contacts along a directed ring, each in one of ten rounds: the graphs of any ten successive
/// rounds are strongly connected together, and of no fewer.
fn contact_plan(agents: usize) -> ContactPlan {
    let contact = |agent: usize| format!("{agent} {} {} {}\n", (agent + 1) % agents, agent % 10, agent % 10 + 1);
    let text: String = (0..agents).map(contact).collect();
    ContactPlan::parse(&format!("period 10\n{text}"), agents).expect("the plan is well-formed")
}

/// Every cell with one of these numbers of agents.
pub fn all_cells(sizes: &[usize]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for problem in PROBLEMS {
        let methods: &[&str] = if problem == "quadratic" { &["push-pull"] } else { &["dfab", "fab", "push-pull-soba"] };
        let noises: &[bool] =
            if ["policy-evaluation", "quadratic"].contains(&problem) { &[false, true] } else { &[false] };
        for network in NETWORKS {
            for &agents in sizes {
                for &method in methods {
                    cells.extend(noises.iter().map(|&noisy| Cell { problem, network, agents, method, noisy }));
                }
            }
        }
    }
    cells
}

/// A sample of this many cells, drawn by a seed.
pub fn sampled_cells(sizes: &[usize], count: usize, seed: u64) -> Vec<Cell> {
    let mut cells = all_cells(sizes);
    let mut stream = Stream::new(seed, EVERYONE, 0, Purpose::Probe);
    for place in 0..count.min(cells.len()) {
        let other = place + stream.below(cells.len() - place);
        cells.swap(place, other);
    }
    cells.truncate(count);
    cells.sort();
    cells
}
