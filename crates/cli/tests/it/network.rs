//! Real nodes as processes of this host.
#![cfg(feature = "net")]

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation};
use fabnet_lab::{Experiment, Setup};
use fabnet_net::NodeStatus;

use crate::common::{self, succeed};

/// Policy evaluation in lockstep without a deadline.
fn experiment(folder: &Path, method: &str, agents: usize, rounds: u64) -> PathBuf {
    let file = folder.join("experiment.toml");
    let text = format!(
        "agents = {agents}\nrounds = {rounds}\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n[topology]\nkind = \"phases\"\nedge_probability = 0.3\n\
         [network]\npace = \"lockstep\"\ntick = 0.2\n[record]\nevery = 50\nmetrics = [\"relative_error\", \"gradients\"]\n[[algorithm]]\n{method}\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

/// The fingerprints of the peers of an experiment after its last round, when messages are all that
/// happens.
fn simulated(experiment: &Path) -> Vec<String> {
    let plan = Experiment::read(experiment).unwrap().plan().unwrap();
    let (group, seed) = plan.runs().next().unwrap();
    let setup = Setup::<f64>::new(group, seed).unwrap();
    let life = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
    let mut peers: Vec<Peer<f64>> =
        (0..group.agents as u32).map(|node| Peer::new(setup.task(node, 1, plan.every), life(node), 0, None)).collect();
    let mut events: VecDeque<(u32, Event)> =
        peers.iter().map(|peer| (peer.node(), Event::Stored { ticket: 0, safe: true })).collect();
    let mut effects = Vec::new();
    while let Some((node, event)) = events.pop_front() {
        peers[node as usize].handle(event, &mut effects);
        for effect in effects.drain(..) {
            if let Effect::Send { to, bytes } = effect {
                events.push_back((to, Event::Message(bytes)));
            }
        }
    }
    assert!(peers.iter().all(|peer| peer.round() == group.rounds));
    peers.iter().map(|peer| format!("{:016x}", peer.fingerprint())).collect()
}

/// What the nodes of a launch said last, by agent.
fn fingerprints(results: &Path) -> Vec<String> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for node in std::fs::read_dir(results.join("nodes")).unwrap() {
        let text = std::fs::read_to_string(node.unwrap().path().join("status.json")).unwrap();
        let status: NodeStatus = serde_json::from_str(&text).unwrap();
        found.extend(status.agents.into_iter().map(|agent| (agent.agent, agent.fingerprint)));
    }
    found.sort();
    found.into_iter().map(|(_, fingerprint)| fingerprint).collect()
}

/// Runs agents as processes and compares their fingerprints with those of simulated peers, and the
/// gradients that they have counted with those of a simulation.
fn same_bits(method: &str, agents: usize, rounds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(folder.path(), method, agents, rounds);
    let results = folder.path().join("results");
    succeed(folder.path(), &["launch", "experiment.toml", "--out", "results", "--timeout", "3min", "--quiet"]);
    assert_eq!(fingerprints(&results), simulated(&file));
    let summary = common::summary(&results);
    assert_eq!(summary["runs"][0]["rounds"], rounds);
    assert_eq!(summary["runs"][0]["max_mass_residual"], 0);
    succeed(folder.path(), &["run", "experiment.toml", "--out", "simulated", "--quiet"]);
    let simulated = common::summary(&folder.path().join("simulated"));
    let gradients = |summary: &serde_json::Value| summary["runs"][0]["final"]["gradients"].as_f64().unwrap();
    assert!(gradients(&summary) > 2.0 * rounds as f64);
    assert_eq!(gradients(&summary), gradients(&simulated));
}

#[test]
fn ten_processes_follow_simulated_peers_bit_for_bit_with_fab() {
    same_bits("kind = \"fab\"\npenalty = 60\nsteps = { x = 0.1, y = 0.1, z = 0.1 }", 10, 500);
}

#[test]
fn ten_processes_follow_simulated_peers_bit_for_bit_with_dfab() {
    same_bits("kind = \"dfab\"\nsteps = { x = 0.005, u = 0.05, z = 0.05 }", 10, 500);
}

#[test]
fn processes_follow_simulated_peers_bit_for_bit_with_words_of_every_other_length() {
    for words in [64, 32, 8] {
        let method = "kind = \"dfab\"\nsteps = { x = 0.005, u = 0.05, z = 0.05 }";
        same_bits(&format!("{method}\n[wire]\nwords = {words}"), 4, 300);
    }
}

#[test]
fn processes_follow_simulated_peers_bit_for_bit_with_several_gradient_steps_for_each_exchange() {
    same_bits("kind = \"dfab\"\nexchange_every = 3\nsteps = { x = 0.002, u = 0.02, z = 0.02 }", 4, 300);
}

/// The lives that the log of a node speaks of.
fn lives(node: &Path) -> BTreeSet<String> {
    let log = std::fs::read_to_string(node.join("log")).unwrap();
    let started = log.lines().filter(|line| line.contains("started"));
    started.filter_map(|line| Some(line.split("incarnation=").nth(1)?.split(' ').next()?.to_owned())).collect()
}

#[test]
fn nodes_that_go_on_exactly_where_they_were_need_no_repair() {
    let folder = common::folder_in_memory();
    experiment(folder.path(), "kind = \"dfab\"\nsteps = { x = 0.005, u = 0.05, z = 0.05 }", 4, 8000);
    let arguments =
        "launch experiment.toml --out results --set network.exact=true --kill-every 2s --timeout 8min --quiet";
    succeed(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    let results = folder.path().join("results");
    let run = &common::summary(&results)["runs"][0];
    // How many depends on how fast the machine is.
    assert!(run["kills"].as_u64() >= Some(2), "{run:#}");
    assert_eq!(run["max_mass_residual"], 0);
    assert!(run["final"]["relative_error"].as_f64() < Some(1e-4), "{run:#}");
    for node in std::fs::read_dir(results.join("nodes")).unwrap() {
        let node = node.unwrap().path();
        assert_eq!(lives(&node).len(), 1, "{}", node.display());
        let status = std::fs::read_to_string(node.join("status.json")).unwrap();
        let status: NodeStatus = serde_json::from_str(&status).unwrap();
        let events = &status.agents[0].events;
        assert_eq!(events.values().sum::<u64>(), 0, "{events:?}");
    }
}
