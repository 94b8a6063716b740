//! Nodes that find the answer, whatever the network does.

use std::collections::VecDeque;
use std::time::Duration;

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation};
use fabnet_net::LinkFaults;

use crate::cluster::{Cluster, setup};

const FAULTS: LinkFaults = LinkFaults { seed: 1, loss: 0.3, duplication: 0.2, delay: Duration::from_millis(40) };

/// The fingerprints of the peers of a plan after its last round, when messages are all that
/// happens.
fn simulated(cluster: &Cluster) -> Vec<String> {
    let plan = cluster.plan();
    let setup = setup(&plan);
    let mut peers: Vec<Peer<f64>> = (0..cluster.configs.len() as u32)
        .map(|node| (node, Incarnation { counter: 1, nonce: u64::from(node) }))
        .map(|(node, incarnation)| Peer::new(setup.task(node, 1, plan.every), incarnation, 0, None))
        .collect();
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
    assert!(peers.iter().all(|peer| peer.round() == peer.config().policy.rounds));
    peers.iter().map(|peer| format!("{:016x}", peer.fingerprint())).collect()
}

fn fingerprints(cluster: &Cluster) -> Vec<String> {
    let agents = (0..cluster.configs.len()).flat_map(|node| cluster.status(node).agents);
    agents.map(|agent| agent.fingerprint).collect()
}

#[test]
fn nodes_in_lockstep_follow_simulated_peers_bit_for_bit() {
    let mut cluster = Cluster::new(4, 200, "pace = \"lockstep\"");
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    assert_eq!(fingerprints(&cluster), simulated(&cluster));
}

#[test]
fn nodes_agree_on_one_answer_while_messages_are_lost_doubled_and_late() {
    let mut cluster = Cluster::with_faults(3, 3000, "", FAULTS);
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    let first = cluster.solution(0);
    let largest = first.iter().fold(0.0f64, |largest, scalar| largest.max(scalar.abs()));
    assert!(largest > 0.1, "{first:?}");
    for node in 1..3 {
        let distance = first.iter().zip(cluster.solution(node)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-3 * largest, "n{node}: {distance}");
    }
    for node in 0..3 {
        assert_eq!(cluster.status(node).agents[0].max_mass_residual, 0);
    }
}

#[test]
fn a_run_repeats_exactly_and_another_seed_of_faults_is_another_run() {
    let run = |seed: u64| {
        let mut cluster = Cluster::with_faults(3, 300, "", LinkFaults { seed, ..FAULTS });
        cluster.start_all();
        cluster.run_to_end();
        fingerprints(&cluster)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn a_node_that_loses_messages_on_purpose_counts_them() {
    let mut cluster = Cluster::new(2, 300, "");
    cluster.configs[1].loss = 0.25;
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    let (dropped, sent) = (cluster.status(1).dropped, cluster.status(1).agents[0].messages["sent"]);
    assert!((0.15..0.35).contains(&(dropped as f64 / sent as f64)), "{dropped} of {sent}");
    assert_eq!(cluster.status(0).dropped, 0);
}

#[test]
fn a_node_that_crashes_and_comes_back_takes_part_again() {
    let mut cluster = Cluster::new(3, 2000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(2) > 300);
    let incarnation = cluster.status(2).agents[0].incarnation;
    cluster.crash(2);
    cluster.step_for(Duration::from_secs(1));
    cluster.start(2);
    assert!(cluster.round(2) >= 100, "it begins at its checkpoint, not at round {}", cluster.round(2));
    cluster.run_to_end();
    cluster.assert_all_done();
    assert_eq!(cluster.status(2).agents[0].incarnation, incarnation + 1);
}

#[test]
fn an_exact_node_that_crashes_continues_in_the_same_incarnation_and_needs_no_repair() {
    let mut cluster = Cluster::new(3, 1000, "exact = true\npace = \"lockstep\"");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(2) > 300);
    let (round, incarnation) = (cluster.round(2), cluster.status(2).agents[0].incarnation);
    cluster.crash(2);
    cluster.start(2);
    assert_eq!(cluster.round(2), round);
    cluster.step_until("done", |cluster| (0..3).all(|node| cluster.status(node).done));
    for node in 0..3 {
        let agent = &cluster.status(node).agents[0];
        assert_eq!(agent.events.values().sum::<u64>(), 0, "n{node}: {:?}", agent.events);
    }
    assert_eq!(cluster.status(2).agents[0].incarnation, incarnation);
}
