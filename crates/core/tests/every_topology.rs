//! What holds for every topology of the registry: a new one is tested by being there.

use fabnet_core::Digraph;
use fabnet_core::network::connectivity;
use fabnet_core::topology::{Topology, examples};
use fabnet_core::weights::Uniform;
use proptest::prelude::*;

const ROUNDS: u64 = 70;

fn links(topology: &dyn Topology, round: u64, graph: &mut Digraph) -> Vec<(usize, usize)> {
    topology.draw(topology.graph_of(round), graph);
    graph.links().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Rounds drawn in any order, into memory that holds anything, by another copy of the topology,
    /// give the same graphs.
    #[test]
    fn graphs_are_pure_functions_of_seed_and_round(agents in 1..40usize, seed: u64, order in Just((0..ROUNDS).collect::<Vec<_>>()).prop_shuffle()) {
        for ((name, first), (_, second)) in examples(agents, seed).into_iter().zip(examples(agents, seed)) {
            let mut graph = Digraph::new(agents);
            let in_turn: Vec<_> = (0..ROUNDS).map(|round| links(&*first, round, &mut graph)).collect();
            for &round in &order {
                prop_assert_eq!(&links(&*second, round, &mut graph), &in_turn[round as usize], "{} in round {}", name, round);
            }
        }
    }

    #[test]
    fn rows_are_ascending_degrees_are_right_and_periods_hold(agents in 1..40usize, seed: u64) {
        for (name, topology) in examples(agents, seed) {
            prop_assert_eq!(topology.agents(), agents);
            let (mut graph, mut later) = (Digraph::new(agents), Digraph::new(agents));
            for round in 0..ROUNDS {
                let found = links(&*topology, round, &mut graph);
                let mut sent = vec![0; agents];
                for &(source, target) in &found {
                    prop_assert!(source != target && source < agents, "{}: {} to {}", name, source, target);
                    sent[source] += 1;
                }
                for (agent, &sent) in sent.iter().enumerate() {
                    prop_assert!(graph.sources(agent).is_sorted_by(|a, b| a < b), "{}", name);
                    prop_assert_eq!(graph.out_degree(agent), sent, "{}", name);
                }
                prop_assert_eq!(found.len(), graph.edges());
                if let Some(period) = topology.period() {
                    prop_assert_eq!(&found, &links(&*topology, round + period, &mut later), "{} repeats", name);
                }
            }
        }
    }
}

/// Estimates of memory are made before a graph is drawn: they must not be too small, nor far too
/// large.
#[test]
fn links_are_known_before_they_are_drawn() {
    for agents in [1, 2, 17, 60] {
        let mut graph = Digraph::new(agents);
        for (name, topology) in examples(agents, 3) {
            let most = (0..ROUNDS).map(|round| links(&*topology, round, &mut graph).len()).max().unwrap_or(0) as f64;
            let (expected, deviation) = (topology.links(), most.sqrt());
            assert!(most <= expected + 4.0 * deviation, "{name}, {agents} agents: {most} links, {expected} expected");
            assert!(
                expected <= 2.0 * most + 4.0 * deviation,
                "{name}, {agents} agents: {most} links, {expected} expected"
            );
        }
    }
}

#[test]
fn random_topologies_depend_on_the_seed() {
    let mut graph = Digraph::new(30);
    for ((name, first), (_, second)) in examples(30, 0).into_iter().zip(examples(30, 1)) {
        let random = ["erdos-renyi", "redrawn", "undirected", "phases", "small-world", "scale-free"].contains(&name);
        let differ = links(&*first, 0, &mut graph) != links(&*second, 0, &mut graph);
        assert_eq!(differ, random, "{name}");
    }
}

#[test]
fn every_example_is_jointly_strongly_connected() {
    for (name, topology) in examples(12, 1) {
        let report = connectivity(&*topology, &Uniform, 60);
        assert!(report.window.is_some() && report.spread.is_some(), "{name}: {report:?}");
        assert!((report.pull_weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}", name);
        assert!((report.push_weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}", name);
        assert!(report.messages > 0.0 && report.bytes_per_round(8) == 8.0 * report.messages, "{}", name);
    }
}
