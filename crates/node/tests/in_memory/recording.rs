//! What a node records of itself for those who watch.

use std::path::Path;

use fabnet_watch::{RecordedRun, read_recording};

use crate::cluster::Cluster;

fn recorded(cluster: &Cluster, name: &str) -> RecordedRun {
    read_recording(&*cluster.files[1], &Path::new("/state/watch").join(name)).unwrap()
}

#[test]
fn a_node_records_what_it_says_of_itself_and_keeps_the_recording_of_the_process_before() {
    let mut cluster = Cluster::new(3, 900, "");
    cluster.configs[1].watch = true;
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(1) > 300);
    // The process is killed; what a power failure leaves is up to the system.
    cluster.nodes[1] = None;
    cluster.start(1);
    cluster.run_to_end();
    cluster.assert_all_done();
    let (before, now) = (recorded(&cluster, "1"), recorded(&cluster, "0"));
    let round = |run: &RecordedRun| run.frames.last().map(|frame| frame.k);
    assert!(round(&before) >= Some(150) && round(&before) < Some(600), "{:?}", round(&before));
    assert_eq!(round(&now), Some(cluster.status(1).agents[0].round));
    // Twice a second, and of itself only.
    assert!(
        now.frames.windows(2).all(|pair| pair[1].t - pair[0].t > 0.4 || pair[1] == now.frames[now.frames.len() - 1])
    );
    assert!(now.frames.iter().any(|frame| frame.v.as_deref() == Some("nyn")));
    assert!(!cluster.files[0].exists(Path::new("/state/watch")), "nobody has asked it to");
}

#[test]
fn where_nothing_can_be_recorded_a_node_goes_on() {
    let mut cluster = Cluster::new(2, 300, "");
    cluster.configs[0].watch = true;
    cluster.files[0].create_folder(Path::new("/state")).unwrap();
    cluster.files[0].write_whole(Path::new("/state/watch"), b"not a folder").unwrap();
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
}
