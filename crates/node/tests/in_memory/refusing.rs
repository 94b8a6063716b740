//! Nodes and messages that do not belong to the run.

use std::sync::Arc;
use std::time::Duration;

use fabnet_net::{Inbox, Limits, LinkFaults, Refusals, Transport};

use crate::cluster::Cluster;

#[test]
fn a_node_with_another_plan_is_told_so_and_the_others_go_on() {
    let mut cluster = Cluster::new(3, 1000, "start = 2\nstart_within = 20");
    cluster.start(0);
    cluster.start(1);
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    cluster.experiment = cluster.experiment.replace("rounds = 1000", "rounds = 999");
    cluster.start(2);
    cluster.step_for(Duration::from_secs(3));
    let error = cluster.error(2);
    assert!(error.contains("runs another manifest") && error.contains("run, plan and members"), "{error}");
    assert!(cluster.status(0).refused["manifest"] > 0);
    let round = cluster.round(0);
    cluster.step_for(Duration::from_secs(1));
    assert!(cluster.round(0) >= round + 90);
}

#[test]
fn one_member_with_another_plan_does_not_end_those_that_start() {
    let mut cluster = Cluster::new(4, 1000, "start = 3\nstart_within = 60");
    let experiment = cluster.experiment.clone();
    cluster.experiment = experiment.replace("rounds = 1000", "rounds = 999");
    cluster.start(3);
    cluster.experiment = experiment;
    cluster.start(0);
    cluster.step_for(Duration::from_secs(2));
    assert_eq!((&cluster.ends[0], &cluster.ends[3]), (&None, &None), "one word against another");
    cluster.start(1);
    cluster.start(2);
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    assert!(cluster.error(3).contains("runs another manifest"), "{:?}", cluster.ends[3]);
    assert_eq!(cluster.ends[..3], [None, None, None]);
}

#[test]
fn others_that_can_be_reached_and_never_answer_are_named() {
    let nothing_arrives = LinkFaults { loss: 1.0, ..LinkFaults::default() };
    let mut cluster = Cluster::with_faults(2, 100, "", nothing_arrives);
    cluster.start(0);
    cluster.step_for(Duration::from_secs(30));
    assert_eq!(cluster.ends[0], None, "nobody is there, so it waits");
    cluster.start(1);
    cluster.step_until("given up", |cluster| cluster.ends[0].is_some());
    let error = cluster.error(0);
    assert!(error.contains("not admitted: `n1` at n1.example:7000 can be reached"), "{error}");
}

#[test]
fn forged_foreign_and_oversized_messages_are_counted_and_never_reach_a_peer() {
    let mut cluster = Cluster::new(3, 1000, "start = 2");
    cluster.start(0);
    cluster.start(1);
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    let (inbox, _inputs) = Inbox::new(Limits::default(), 100, Arc::new(Refusals::default()), cluster.clock.clone());
    let hostile = cluster.network.join(&cluster.configs[2], &inbox).unwrap();
    // A header: 16 bytes that say nothing here, then who sends and who receives, and the run.
    let message = |from: u32, to: u32| [&[0; 16][..], &from.to_le_bytes(), &to.to_le_bytes(), &[0; 40]].concat();
    let malformed = cluster.status(0).agents[0].messages["malformed"];
    hostile.send(2, 0, message(1, 0));
    hostile.send(2, 0, message(2, 0));
    hostile.send(2, 0, vec![0; 1 << 20]);
    cluster.step_for(Duration::from_secs(1));
    let status = cluster.status(0);
    let refused = |reason: &str| status.refused[reason];
    assert_eq!(["forged", "manifest", "oversized"].map(refused), [1, 1, 1]);
    assert_eq!(status.agents[0].messages["malformed"], malformed);
}
