//! A topology of your own: two rings that are connected in every tenth round only, by one link in
//! each direction. The connectivity report says before the run whether this is enough.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, PushPull, Steps};
use fabnet_core::direction::Difference;
use fabnet_core::network::connectivity;
use fabnet_core::observe::{ErrorWatch, run};
use fabnet_core::topology::Topology;
use fabnet_core::weights::Uniform;
use fabnet_core::{Digraph, Network, ProblemExt, Shard, Stop};
use fabnet_problems::PolicyEvaluation;

/// Two rings of agents, 0..half and half..agents. In every tenth round, the first agent of each
/// ring also receives from the last agent of the other one.
struct TwoRings {
    half: usize,
}

/// The graph of most rounds: two separate rings.
const APART: u64 = 0;
/// The graph of every tenth round, with the two links between the rings.
const TOGETHER: u64 = 1;

impl Topology for TwoRings {
    fn agents(&self) -> usize {
        2 * self.half
    }

    fn graph_of(&self, round: u64) -> u64 {
        if round.is_multiple_of(10) { TOGETHER } else { APART }
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        graph.draw(self.agents() as f64, |agent, sources| {
            let first = if agent < self.half { 0 } else { self.half };
            let before = first + (agent - first + self.half - 1) % self.half;
            sources.push(before);
            if name == TOGETHER && agent == first {
                sources.push((self.agents() - 1 - first) % self.agents());
            }
            sources.sort();
        });
    }

    fn period(&self) -> Option<u64> {
        Some(10)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = TwoRings { half: 4 };
    let report = connectivity(&topology, &Uniform, 10);
    println!(
        "strongly connected over {:?} rounds, information reaches all agents within {:?}, κ = {:.3}",
        report.window, report.spread, report.kappa
    );
    let problem = Arc::new(PolicyEvaluation::<f64>::new(8, 1));
    let auto = Auto::new(report.spread.ok_or("never jointly strongly connected")?.bound());
    let dfab = PushPull::new(&*problem, Difference::new(), Steps::auto(auto))?;
    let mut watch = ErrorWatch::new(problem.optimum().ok_or("no known optimum")?, 20).until(1e-4);
    let mut agents = Shard::new(Arc::new(dfab), problem, Network::new(Arc::new(topology), Arc::new(Uniform)), 1)?;
    let stop = run(&mut agents, 20_000, &mut watch)?;
    println!("{stop:?}");
    if matches!(stop, Stop::Reached { .. }) { Ok(()) } else { Err("the optimum was not reached".into()) }
}
