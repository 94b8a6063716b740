//! State folders: locked, of another run, and on disks that are full.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::{FailingFiles, Failure, Files, read_frames};
use fabnet_net::DiskMode;

use crate::cluster::Cluster;

/// Rounds of the records in a node's track.
fn recorded(cluster: &Cluster, node: usize) -> Vec<u64> {
    let path = cluster.agent_file(node, "track");
    let frames = read_frames(&*cluster.disks[node], &path).unwrap().unwrap();
    frames.records().map(|record| u64::from_le_bytes(*record.first_chunk().unwrap())).collect()
}

#[test]
fn a_state_folder_is_for_one_process() {
    let mut cluster = Cluster::new(2, 100, "");
    cluster.start(0);
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.contains("/state: another process uses this state folder"), "{error}");
}

#[test]
fn a_folder_of_another_run_is_refused_before_the_network_is_joined() {
    let mut cluster = Cluster::new(2, 100, "");
    cluster.start_all();
    cluster.run_to_end();
    cluster.configs[0].run = "tomorrow".into();
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.contains("belongs to run") && error.contains("a state folder of its own"), "{error}");
    // A node that had joined would be within reach.
    let probe = cluster.network.join(&cluster.configs[1], &inbox(&cluster)).unwrap();
    assert!(!fabnet_net::Transport::reaches(&probe, &cluster.configs[0].members[0].address));
}

fn inbox(cluster: &Cluster) -> Arc<fabnet_net::Inbox> {
    fabnet_net::Inbox::new(fabnet_net::Limits::default(), 100, Arc::default(), cluster.clock.clone()).0
}

#[test]
fn points_are_recorded_at_the_rounds_of_the_plan_and_checkpoints_now_and_then() {
    let mut cluster = Cluster::new(2, 500, "");
    cluster.configs[0].checkpoint = Duration::from_secs(1);
    cluster.start_all();
    cluster.step_until("begun", |cluster| cluster.round(0) > 10);
    let mut seen = std::collections::BTreeSet::new();
    while cluster.round(0) < 480 && cluster.ends[0].is_none() {
        cluster.step();
        let names = cluster.disks[0].list(Path::new("/state/0")).unwrap();
        seen.extend(names.into_iter().filter(|name| name.to_string_lossy().starts_with("checkpoint-")));
    }
    // Five seconds of rounds, with at least one second from one checkpoint to the next.
    assert!((4..=6).contains(&seen.len()), "{seen:?}");
    cluster.run_to_end();
    assert_eq!(recorded(&cluster, 0), (1..=50).map(|tenth| 10 * tenth).collect::<Vec<_>>());
}

#[test]
fn a_disk_that_is_full_for_a_while_costs_no_record() {
    let mut cluster = Cluster::new(2, 600, "");
    // Opening takes some operations, and each record one or two.
    let failing = FailingFiles::new(cluster.disks[0].clone(), Failure::Full(40), 60);
    let failing = Arc::new(failing);
    cluster.files[0] = failing.clone();
    cluster.start_all();
    cluster.run_to_end();
    assert!(failing.count() > 100, "the disk was full in the middle: {}", failing.count());
    cluster.assert_all_done();
    assert_eq!(recorded(&cluster, 0), (1..=60).map(|tenth| 10 * tenth).collect::<Vec<_>>());
}

/// Seconds of a disk that does not answer are seconds without a checkpoint, and nothing else.
#[test]
fn a_disk_that_stands_still_holds_up_neither_rounds_nor_answers() {
    let mut cluster = Cluster::new(2, 600, "");
    cluster.disk_mode = DiskMode::OnThread;
    cluster.configs[0].checkpoint = Duration::from_millis(500);
    let disk = Arc::new(FailingFiles::counting(cluster.disks[0].clone()));
    cluster.files[0] = disk.clone();
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    disk.stand_still(true);
    let (round, operations) = (cluster.round(0), disk.count());
    cluster.step_for(Duration::from_secs(3));
    assert!(cluster.round(0) >= round + 250 && cluster.round(1) >= round + 250, "rounds go on: {}", cluster.round(0));
    assert!(disk.count() <= operations + 1, "nothing was written: {operations} and {}", disk.count());
    let age = cluster.status(0).agents[0].checkpoint_age.unwrap();
    assert!(age > 2.0, "the last checkpoint is old: {age}");
    disk.stand_still(false);
    cluster.run_to_end();
    cluster.assert_all_done();
    assert_eq!(recorded(&cluster, 0), (1..=60).map(|tenth| 10 * tenth).collect::<Vec<_>>());
}

#[test]
fn a_node_that_is_told_to_stop_on_a_full_disk_says_farewell_and_what_is_missing() {
    let mut cluster = Cluster::new(3, 2000, "");
    let failing = FailingFiles::new(cluster.disks[2].clone(), Failure::Full(u64::MAX), 60);
    cluster.files[2] = Arc::new(failing);
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(2) > 600);
    let stop = cluster.nodes[2].as_ref().map(fabnet_node::NodeRuntime::stopper).unwrap();
    stop();
    cluster.step();
    let error = cluster.error(2);
    assert!(error.starts_with("/state/2/") && error.contains("check the folder's space and rights"), "{error}");
    cluster.step_for(Duration::from_millis(700));
    assert_eq!(cluster.status(0).agents[0].members, 2, "its farewell was heard");
}

#[test]
fn a_damaged_track_is_named_with_what_to_do() {
    let mut cluster = Cluster::new(2, 300, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 100);
    cluster.nodes[0] = None;
    let path = cluster.agent_file(0, "track");
    let mut bytes = cluster.disks[0].read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    cluster.disks[0].write(&path, &bytes).unwrap();
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.contains("/state/0/track") && error.contains("is damaged"), "{error}");
    assert!(error.contains("Move the state folder away"), "{error}");
}
