//! How nodes end, and what the others make of it.

use std::sync::Arc;
use std::time::Duration;

use fabnet_files::MemoryFiles;
use fabnet_net::EndReason;

use crate::cluster::{Cluster, TICK};

#[test]
fn a_node_that_is_told_to_stop_says_farewell_and_continues_there_later() {
    let mut cluster = Cluster::new(3, 2000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(2) > 200);
    let round = cluster.round(2);
    let stop = cluster.nodes[2].as_ref().map(fabnet_node::NodeRuntime::stopper).unwrap();
    stop();
    cluster.step();
    assert_eq!(cluster.ends[2], Some(Ok(EndReason::Left)));
    // Silence alone would take the others six seconds to believe.
    cluster.step_for(Duration::from_millis(700));
    assert_eq!(cluster.status(0).agents[0].members, 2);
    cluster.start(2);
    assert!(cluster.round(2) >= round, "it continues where it has left");
    cluster.run_to_end();
    cluster.assert_all_done();
}

#[test]
fn a_node_whose_caller_does_not_want_to_go_on_leaves() {
    let mut cluster = Cluster::new(2, 2000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    cluster.clock.advance(TICK);
    let end = cluster.nodes[0].as_mut().unwrap().poll(&mut || false).unwrap();
    assert_eq!(end, Some(EndReason::Left));
}

#[test]
fn a_node_that_is_done_answers_others_for_a_while() {
    let mut cluster = Cluster::new(2, 100, "");
    cluster.configs[0].linger = Duration::from_secs(5);
    cluster.start_all();
    cluster.step_until("done", |cluster| cluster.status(0).done);
    let status = cluster.status(0);
    assert!(status.complete && cluster.ends[0].is_none());
    // The status is up to half a second old.
    cluster.step_for(Duration::from_millis(4400));
    assert_eq!(cluster.ends[0], None, "five seconds have not passed");
    cluster.step_for(Duration::from_millis(700));
    assert_eq!(cluster.ends[0], Some(Ok(EndReason::Done)));
}

#[test]
fn most_others_falling_silent_makes_an_answer_doubtful() {
    let mut cluster = Cluster::new(4, 3000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    (1..4).for_each(|node| cluster.crash(node));
    cluster.run_to_end();
    let error = cluster.error(0);
    assert!(error.contains("`n1`, `n2`, `n3` fell silent: they have died, or this node was cut off"), "{error}");
}

#[test]
fn one_that_has_died_does_not_make_an_answer_doubtful() {
    let mut cluster = Cluster::new(4, 3000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    cluster.crash(3);
    cluster.run_to_end();
    assert!((0..3).all(|node| cluster.ends[node] == Some(Ok(EndReason::Done))), "{:?}", cluster.ends);
}

/// Two processes that act as one member begin one new incarnation after the other.
#[test]
fn two_processes_that_act_as_one_member_are_reported() {
    let mut cluster = Cluster::new(3, 4000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 50);
    // The twin has a folder of its own, and hears what arrives for the agent as the first one does.
    cluster.twin = cluster.nodes[2].take();
    cluster.files[2] = Arc::new(MemoryFiles::default());
    cluster.start(2);
    cluster.step_until("noticed", |cluster| cluster.status(0).doubles == ["n2"]);
    cluster.run_to_end();
    for node in 0..3 {
        let error = cluster.error(node);
        assert!(error.contains("two processes acted as `n2`"), "{error}");
    }
}
