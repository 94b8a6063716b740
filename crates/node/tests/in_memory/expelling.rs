//! Members that the others have expelled.

use std::path::Path;
use std::time::Duration;

use fabnet_files::Files;
use fabnet_net::{ExpulsionList, MemberKeys};

use crate::cluster::Cluster;

/// The file in which operators bring lists.
const BROUGHT: &str = "/expelled.toml";

/// Five nodes that seal, and are under way.
fn under_way() -> Cluster {
    let mut cluster = Cluster::new(5, 100_000, "");
    cluster.secure();
    for config in &mut cluster.configs {
        config.expelled = Some(BROUGHT.into());
    }
    cluster.start_all();
    cluster.step_until("under way", |cluster| (0..5).all(|node| cluster.round(node) > 20));
    cluster
}

/// A list with this number that expels these nodes, signed by some.
fn list(cluster: &Cluster, number: u64, expelled: &[usize], signers: &[usize]) -> String {
    let names = expelled.iter().map(|&node| cluster.configs[node].node.clone()).collect();
    let run = cluster.configs[0].run_digest(&cluster.plan().text_of_digest(), true);
    let mut list = ExpulsionList::new(run.to_string(), number, names);
    for &signer in signers {
        let keys = MemberKeys::open(cluster.disks[signer].clone(), &cluster.configs[signer]).unwrap().unwrap();
        keys.sign(&mut list);
    }
    list.to_string()
}

fn bring(cluster: &Cluster, node: usize, list: &str) {
    let files: &dyn Files = &*cluster.disks[node];
    files.write_whole(Path::new(BROUGHT), list.as_bytes()).unwrap();
}

/// Whether a node believes that another one lives.
fn believes_alive(cluster: &Cluster, node: usize, other: u32) -> bool {
    let peer = cluster.nodes[node].as_ref().and_then(|runtime| runtime.peers().next());
    peer.is_some_and(|peer| peer.table().living(other).is_some())
}

fn is_out(cluster: &Cluster) -> bool {
    (0..4).all(|node| !believes_alive(cluster, node, 4)) && cluster.ends[4].is_some()
}

#[test]
fn a_member_that_most_have_expelled_is_out_within_ten_seconds_everywhere() {
    let mut cluster = under_way();
    bring(&cluster, 1, &list(&cluster, 1, &[4], &[0, 1, 2]));
    cluster.step_for(Duration::from_secs(2));
    assert!(is_out(&cluster), "after two seconds, and ten are allowed");
    assert!(cluster.error(4).contains("have expelled this node, by list number 1"), "{}", cluster.error(4));
    let round = cluster.round(0);
    cluster.step_for(Duration::from_secs(10));
    assert!(cluster.round(0) > round + 500, "the others go on");
    assert_eq!(cluster.nodes.iter().flatten().count(), 4);
}

#[test]
fn a_list_that_too_few_have_signed_changes_nothing() {
    let mut cluster = under_way();
    bring(&cluster, 1, &list(&cluster, 1, &[4], &[0, 1]));
    cluster.step_for(Duration::from_secs(5));
    assert!((0..4).all(|node| believes_alive(&cluster, node, 4)) && cluster.ends[4].is_none());
    // The third signature, by the operator who finds the file there.
    bring(&cluster, 1, &list(&cluster, 1, &[4], &[0, 1, 3]));
    cluster.step_for(Duration::from_secs(2));
    assert!(is_out(&cluster));
}

#[test]
fn a_list_survives_restarts_and_one_with_a_higher_number_readmits() {
    let mut cluster = under_way();
    bring(&cluster, 1, &list(&cluster, 1, &[4], &[0, 1, 2]));
    cluster.step_for(Duration::from_secs(2));
    (0..4).for_each(|node| cluster.crash(node));
    cluster.disks[1].remove(Path::new(BROUGHT)).unwrap();
    (0..5).for_each(|node| cluster.start(node));
    cluster.step_until("the expelled one has ended", |cluster| cluster.ends[4].is_some());
    assert!(cluster.error(4).contains("have expelled this node"), "{}", cluster.error(4));
    let rounds = cluster.round(0);
    cluster.step_until("the others go on without it", |cluster| cluster.round(0) > rounds + 50);
    assert!((0..4).all(|node| !believes_alive(&cluster, node, 4)));

    // An older list says nothing any more.
    bring(&cluster, 2, &list(&cluster, 1, &[3], &[0, 1, 2]));
    bring(&cluster, 3, &list(&cluster, 2, &[], &[1, 2, 3]));
    cluster.step_for(Duration::from_secs(2));
    cluster.start(4);
    cluster.step_until("it is back", |cluster| {
        (0..4).all(|node| believes_alive(cluster, node, 4)) && cluster.round(4) > rounds
    });
}

#[test]
fn a_kept_list_that_is_damaged_is_refused_with_what_to_do() {
    let mut cluster = under_way();
    bring(&cluster, 1, &list(&cluster, 1, &[4], &[0, 1, 2]));
    cluster.step_for(Duration::from_secs(2));
    cluster.crash(0);
    let kept = cluster.configs[0].state.join("expelled.toml");
    let text = String::from_utf8(cluster.disks[0].read(&kept).unwrap()).unwrap();
    cluster.disks[0].write(&kept, text.replace("\"n4\"", "\"n3\"").as_bytes()).unwrap();
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.starts_with("/state/expelled.toml: signature 1") && error.contains("Remove the file"), "{error}");
}
