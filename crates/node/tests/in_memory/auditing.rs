//! The audit log of a node.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::{FailingFiles, Failure, Files};
use fabnet_net::{EndReason, Inbox, Limits, Refusals, Transport, verify_audit_log};
use fabnet_node::NodeRuntime;

use crate::cluster::Cluster;

/// What the audit log of a node says: the kind, the member and the text of each line.
fn said(cluster: &Cluster, node: usize) -> Vec<String> {
    let bytes = cluster.disks[node].read(Path::new("/state/audit.jsonl")).unwrap();
    let lines = String::from_utf8(bytes).unwrap();
    let field = |line: &str, name: &str| {
        let value = line.split(&format!("\"{name}\":\"")).nth(1).unwrap_or_default();
        value.split('"').next().unwrap_or_default().to_owned()
    };
    lines.lines().map(|line| ["kind", "member", "text"].map(|name| field(line, name)).join(" | ")).collect()
}

/// Whether a line of the log begins like this.
fn holds(said: &[String], beginning: &str) -> bool {
    said.iter().any(|line| line.starts_with(beginning))
}

fn is_intact(cluster: &Cluster, node: usize) -> bool {
    verify_audit_log(&*cluster.disks[node], Path::new("/state")).unwrap().faults.is_empty()
}

#[test]
fn a_log_says_who_came_died_and_left_and_how_the_node_ended() {
    let mut cluster = Cluster::new(4, 1000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 50);
    cluster.crash(3);
    let stop = cluster.nodes[2].as_ref().map(NodeRuntime::stopper).unwrap();
    stop();
    cluster.run_to_end();
    let said = said(&cluster, 0);
    let digest = cluster.configs[0].run_digest(&cluster.plan().text_of_digest(), false).to_string();
    assert!(said[0].starts_with("start |  | fabnet ") && said[0].contains(&digest), "{said:#?}");
    for line in [
        "begin |",
        "admission | n1 | heard for the first time",
        "departure | n2 | ",
        "death | n3 | it counts as dead",
        "end |  | done",
    ] {
        assert!(holds(&said, line), "{line}: {said:#?}");
    }
    assert!(!holds(&said, "command"), "{said:#?}");
    let stopped = self::said(&cluster, 2);
    assert!(holds(&stopped, "command |  | stop") && holds(&stopped, "end |  | left"), "{stopped:#?}");
    assert!((0..3).all(|node| is_intact(&cluster, node)));
}

#[test]
fn a_node_that_is_started_again_goes_on_with_its_log() {
    let mut cluster = Cluster::new(2, 1000, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    cluster.nodes[0] = None;
    cluster.start(0);
    cluster.run_to_end();
    let said = said(&cluster, 0);
    assert_eq!(said.iter().filter(|line| line.starts_with("start |")).count(), 2, "{said:#?}");
    assert!(is_intact(&cluster, 0));
}

#[test]
fn what_is_refused_is_noted_by_reason_and_not_for_each_message() {
    let mut cluster = Cluster::new(3, 10_000, "start = 2");
    cluster.start(0);
    cluster.start(1);
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    let (inbox, _inputs) = Inbox::new(Limits::default(), 100, Arc::new(Refusals::default()), cluster.clock.clone());
    let hostile = cluster.network.join(&cluster.configs[2], &inbox).unwrap();
    for _ in 0..200 {
        hostile.send(2, 0, vec![0; 1 << 20]);
        cluster.step_for(Duration::from_millis(100));
    }
    let said = said(&cluster, 0);
    let refusals: Vec<_> = said.iter().filter(|line| line.starts_with("refusal |")).collect();
    assert!((2..=4).contains(&refusals.len()) && refusals[0].contains("`oversized`"), "{said:#?}");
}

#[test]
fn a_disk_that_is_full_costs_lines_and_never_the_run() {
    // A folder in place of the log: nothing can ever be written.
    let mut cluster = Cluster::new(2, 600, "");
    cluster.disks[0].create_folder(Path::new("/state/audit.jsonl")).unwrap();
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    // A disk that is full for a while.
    let mut cluster = Cluster::new(2, 600, "");
    cluster.files[0] = Arc::new(FailingFiles::new(cluster.disks[0].clone(), Failure::Full(40), 60));
    cluster.start_all();
    cluster.run_to_end();
    assert_eq!(cluster.ends[0], Some(Ok(EndReason::Done)));
    let said = said(&cluster, 0);
    assert!(holds(&said, "start |") && holds(&said, "end |  | done") && is_intact(&cluster, 0), "{said:#?}");
}
