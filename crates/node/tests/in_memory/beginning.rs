//! When the first round begins: with everybody, or not at all.

use std::time::Duration;

use crate::cluster::Cluster;

#[test]
fn the_first_round_waits_for_all_members() {
    let mut cluster = Cluster::new(3, 200, "");
    cluster.start(0);
    cluster.start(1);
    cluster.step_for(Duration::from_secs(5));
    assert_eq!((cluster.round(0), cluster.round(1)), (0, 0));
    assert_eq!((cluster.status(0).begun, cluster.status(0).absent), (false, vec!["n2".to_owned()]));
    cluster.start(2);
    cluster.run_to_end();
    cluster.assert_all_done();
}

#[test]
fn members_that_do_not_come_in_time_are_named_and_nobody_is_left_waiting() {
    let mut cluster = Cluster::new(3, 200, "start_within = 8");
    cluster.start(0);
    cluster.start(2);
    cluster.step_for(Duration::from_millis(7900));
    assert_eq!((&cluster.ends[0], &cluster.ends[2]), (&None, &None));
    cluster.step_for(Duration::from_millis(200));
    for node in [0, 2] {
        let error = cluster.error(node);
        assert!(error.contains("within 8 s: 2 of 3 members were heard, `n1` not"), "{error}");
    }
}

#[test]
fn a_node_that_finds_the_run_under_way_joins_at_once() {
    let mut cluster = Cluster::new(3, 1000, "start = 2\nstart_within = 20");
    cluster.start(0);
    cluster.start(1);
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    cluster.start(2);
    cluster.step_for(Duration::from_secs(1));
    assert!(cluster.round(2) > 100, "it is in round {}", cluster.round(2));
    cluster.run_to_end();
    cluster.assert_all_done();
}

#[test]
fn a_run_that_one_member_never_joined_says_so_at_its_end() {
    let mut cluster = Cluster::new(3, 200, "start = 2\nstart_within = 20");
    cluster.start(0);
    cluster.start(1);
    cluster.run_to_end();
    for node in 0..2 {
        let error = cluster.error(node);
        assert!(error.contains("`n2` were not heard in the last tenth of the rounds"), "{error}");
        assert!(cluster.status(node).done && !cluster.status(node).complete);
    }
}

#[test]
fn a_plan_that_does_not_fit_the_members_is_refused() {
    let mut cluster = Cluster::new(3, 200, "start = 4");
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.contains("[network] start = 4, but there are 3 members"), "{error}");
    cluster.configs[0].members.pop();
    let error = cluster.open(0).err().unwrap().to_string();
    assert_eq!(error, "the plan has 3 agents, the members own 2");
}
