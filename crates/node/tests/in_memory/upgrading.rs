//! Runs that are stopped and go on as other runs, as across two versions of the wire.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fabnet_files::Files;
use fabnet_net::EndReason;

use crate::cluster::Cluster;

/// The largest difference of the answers of all nodes from these, in parts of their largest scalar.
fn distance(cluster: &Cluster, from: &[f64]) -> f64 {
    let largest = from.iter().fold(0.0f64, |largest, scalar| largest.max(scalar.abs()));
    let of_node = |node| {
        let answer = cluster.solution(node);
        answer.iter().zip(from).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    (0..cluster.configs.len()).map(of_node).fold(0.0, f64::max) / largest
}

/// The answer of a run of the same plan that nothing disturbs.
fn undisturbed(experiment: &str) -> Vec<f64> {
    let mut cluster = Cluster::new(3, 1, "");
    experiment.clone_into(&mut cluster.experiment);
    cluster.start_all();
    cluster.run_to_end();
    cluster.assert_all_done();
    cluster.solution(0)
}

/// Has all nodes continue what is in their state folders as another run.
fn continue_as(cluster: &mut Cluster, run: &str) {
    for config in &mut cluster.configs {
        run.clone_into(&mut config.run);
        config.continues = Some(std::mem::replace(&mut config.state, Path::new("/").join(run)));
    }
}

/// A run that is at its answer long before its end, with the largest step sizes that its network
/// tolerates.
pub(crate) fn automatic(count: usize) -> Cluster {
    let mut cluster = Cluster::new(count, 3000, "");
    let (head, _) = cluster.experiment.split_once("steps =").unwrap();
    cluster.experiment = format!("{head}steps = \"auto\"\n");
    cluster
}

fn error_at_start(cluster: &Cluster, node: usize) -> String {
    cluster.open(node).err().unwrap().to_string()
}

fn stop_all(cluster: &mut Cluster) {
    cluster.nodes.iter().flatten().for_each(|node| node.stopper()());
    cluster.run_to_end();
    assert!(cluster.ends.iter().all(|end| *end == Some(Ok(EndReason::Left))), "{:?}", cluster.ends);
}

#[test]
fn all_nodes_are_stopped_upgraded_and_reach_the_answer_from_their_checkpoints() {
    let mut cluster = automatic(3);
    let answer = undisturbed(&cluster.experiment);
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 400);
    stop_all(&mut cluster);
    // What another version of the wire means for files: a digest that they do not carry.
    continue_as(&mut cluster, "tomorrow");
    cluster.start_all();
    assert!((0..3).all(|node| cluster.round(node) > 390), "they begin where they were stopped");
    cluster.step_until("under way again", |cluster| cluster.round(0) > 1000);
    // From here on, the checkpoints are those of the new run.
    cluster.crash(1);
    cluster.start(1);
    assert!(cluster.round(1) > 700, "round {}", cluster.round(1));
    cluster.run_to_end();
    cluster.assert_all_done();
    assert!(distance(&cluster, &answer) < 1e-6, "{}", distance(&cluster, &answer));
    assert!((0..3).all(|node| cluster.status(node).agents[0].max_mass_residual == 0));
}

#[test]
fn what_nodes_of_earlier_versions_of_the_wire_have_left_is_continued() {
    for version in ["wire-2", "wire-3"] {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/versions").join(version).join("run");
        let experiment = fs::read_to_string(samples.join("experiment.toml")).unwrap();
        let mut cluster = Cluster::new(3, 1, "");
        cluster.experiment = experiment.replace("rounds = 40", "rounds = 3000").replace("0.05", "0.01");
        let answer = undisturbed(&cluster.experiment);
        for node in 0..3 {
            let folder = Path::new("/state").join(node.to_string());
            cluster.files[node].create_folder(&folder).unwrap();
            for file in fs::read_dir(samples.join("state").join(node.to_string())).unwrap() {
                let file = file.unwrap();
                cluster.files[node].write(&folder.join(file.file_name()), &fs::read(file.path()).unwrap()).unwrap();
            }
        }
        assert!(error_at_start(&cluster, 0).contains("set `continues`"), "{}", error_at_start(&cluster, 0));
        continue_as(&mut cluster, "tomorrow");
        cluster.start_all();
        assert!((0..3).all(|node| cluster.round(node) == 40), "{version}");
        cluster.run_to_end();
        cluster.assert_all_done();
        assert!(distance(&cluster, &answer) < 1e-6, "{version}: {}", distance(&cluster, &answer));
    }
}

#[test]
fn of_two_checkpoints_the_older_one_is_continued_if_the_newer_one_is_damaged() {
    let mut cluster = Cluster::new(2, 2000, "");
    cluster.configs.iter_mut().for_each(|config| config.checkpoint = Duration::from_secs(1));
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 400);
    stop_all(&mut cluster);
    let names = cluster.disks[0].list(Path::new("/state/0")).unwrap();
    let mut rounds: Vec<u64> = names
        .iter()
        .filter_map(|name| name.to_str()?.strip_prefix("checkpoint-")?.split('.').next()?.parse().ok())
        .collect();
    rounds.sort_unstable();
    let newest = cluster.agent_file(0, &format!("checkpoint-{}.safetensors", rounds[1]));
    cluster.disks[0].truncate(&newest, 100).unwrap();
    continue_as(&mut cluster, "tomorrow");
    cluster.start_all();
    assert_eq!(cluster.round(0), rounds[0]);
    cluster.run_to_end();
    cluster.assert_all_done();
}

#[test]
fn what_cannot_be_continued_is_refused_with_the_reason() {
    let mut cluster = Cluster::new(2, 300, "");
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 250);
    continue_as(&mut cluster, "tomorrow");
    assert!(error_at_start(&cluster, 0).contains("another process uses this state folder: stop the run"));
    cluster.nodes.iter_mut().for_each(|node| *node = None);
    let experiment = cluster.experiment.clone();
    cluster.experiment = experiment.replace("rounds = 300", "rounds = 100");
    let error = error_at_start(&cluster, 0);
    assert!(error.contains("this run ends with round 100: give the plan more rounds"), "{error}");
    cluster.experiment = experiment.replace("\"policy-evaluation\"", "\"bilevel-quadratic\"");
    let error = error_at_start(&cluster, 0);
    assert!(error.contains("only a run of the same problem can be continued"), "{error}");
    cluster.experiment = experiment;
    cluster.configs[0].continues = Some("/nowhere".into());
    let error = error_at_start(&cluster, 0);
    assert!(error.starts_with("/nowhere/0: ") && error.contains("`continues` in the node's file names"), "{error}");
    cluster.files[0].create_folder(Path::new("/nowhere/0")).unwrap();
    assert!(error_at_start(&cluster, 0).contains("no intact checkpoint of agent 0"), "{}", error_at_start(&cluster, 0));
}
