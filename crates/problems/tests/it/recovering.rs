//! Automatic step sizes after disturbances that step sizes are not the reason of.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use fabnet_core::algorithm::{Auto, Steps};
use fabnet_core::peer::WordLength;
use fabnet_core::topology::Complete;
use fabnet_core::weights::Uniform;
use fabnet_core::{Network, ProblemExt};
use fabnet_problems::PolicyEvaluation;
use fabnet_sim::{LinkFaults, LossyPeers};

use crate::common::build;

const AGENTS: usize = 5;

/// Free-running peers of policy evaluation with automatic step sizes, everybody linked with
/// everybody.
struct Run {
    problem: Arc<PolicyEvaluation<f64>>,
    peers: LossyPeers<f64>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let problem = Arc::new(PolicyEvaluation::new(AGENTS, seed));
        let network = Network::new(Arc::new(Complete::new(AGENTS)), Arc::new(Uniform));
        let steps = Steps::auto(Auto::new(2)).on(network, true).unwrap();
        let algorithm = build("dfab", &*problem, steps);
        let links = (LinkFaults { delay: 1, ..LinkFaults::default() }, WordLength::Full);
        let peers = LossyPeers::new(
            algorithm,
            problem.clone(),
            Arc::new(Complete::new(AGENTS)),
            Arc::new(Uniform),
            seed,
            links,
        );
        Self { problem, peers }
    }

    fn rounds(&mut self, rounds: u64) {
        (0..rounds).for_each(|_| self.peers.round());
    }

    fn worst_error(&self) -> f64 {
        let (view, optimum) = (self.peers.view(), self.problem.optimum().unwrap());
        (0..AGENTS).map(|agent| view.relative_error_of(&view.point(agent), &optimum)).fold(0.0, f64::max)
    }

    /// The number of rounds until all agents are within 1e-6 of the solution.
    fn rounds_to_solution(&mut self) -> u64 {
        let mut rounds = 0;
        while self.worst_error() > 1e-6 && rounds < 20_000 {
            self.rounds(10);
            rounds += 10;
        }
        rounds
    }
}

/// What an agent does while it is cut off moves all others when it comes back, and that sets them
/// back. Were step sizes halved each time, they would be 1/256 of what they can be in the end. All
/// seeds together need no more rounds than from the start, undisturbed.
#[test]
fn step_sizes_recover_after_an_agent_was_cut_off_eight_times() {
    for (quiet, cut) in [(200, 200), (100, 100), (20, 100)] {
        let (mut disturbed_rounds, mut undisturbed_rounds) = (0, 0);
        for seed in 0..5 {
            let undisturbed = Run::new(seed).rounds_to_solution();
            let mut run = Run::new(seed);
            for _ in 0..8 {
                run.rounds(quiet);
                run.peers.cut_off(2, true);
                run.rounds(cut);
                run.peers.cut_off(2, false);
            }
            let error = run.worst_error();
            let disturbed = run.rounds_to_solution();
            println!(
                "every {quiet} rounds for {cut} rounds, seed {seed}: from {error:.0e} in {disturbed} rounds, undisturbed {undisturbed}"
            );
            disturbed_rounds += disturbed;
            undisturbed_rounds += undisturbed;
        }
        assert!(disturbed_rounds <= undisturbed_rounds, "{disturbed_rounds} rounds instead of {undisturbed_rounds}");
    }
}
