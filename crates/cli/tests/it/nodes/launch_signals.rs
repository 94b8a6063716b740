//! `fabnet launch` that is told to stop, or dies: no node stays behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::run::{experiment, send};
use crate::common::{fabnet, summary};
use rustix::process::Signal;

/// The processes whose arguments name something in a folder.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap().to_owned();
    let of = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.parse::<u32>().is_ok())?;
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&arguments).contains(&folder).then_some(name)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

/// A launched run of three nodes in the middle.
fn launched(folder: &Path) -> Child {
    fs::write(folder.join("experiment.toml"), experiment(3, 1_000_000, "")).unwrap();
    let out = folder.join("results");
    let mut command = fabnet(folder);
    command.args(["launch", "experiment.toml", "--insecure", "--quiet", "--out"]).arg(&out);
    let launch = command.stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let recorded = |node: usize| {
        let track = out.join(format!("nodes/node-{node}/state/{node}/track"));
        fs::metadata(track).is_ok_and(|track| track.len() > 2000)
    };
    while !(0..3).all(recorded) {
        assert!(start.elapsed() < Duration::from_secs(30), "the run does not begin");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(processes(&out).len(), 4, "three nodes, and who started them");
    launch
}

fn told_to_stop(signal: Signal) {
    let folder = tempfile::tempdir().unwrap();
    let launch = launched(folder.path());
    send(&launch, signal);
    let output = launch.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("stopped before all nodes were done; what there is was put together"), "{message}");
    assert_eq!(processes(folder.path()), [""; 0], "nothing stays behind");
    let run = &summary(&folder.path().join("results"))["runs"][0];
    assert!(run["rounds"].as_u64() > Some(10), "{run:#}");
    assert_eq!(run["missing"].as_array().map(Vec::len), Some(3), "{run:#}");
}

#[test]
fn sigint_ends_the_nodes_and_collects() {
    told_to_stop(Signal::INT);
}

#[test]
fn sigterm_ends_the_nodes_and_collects() {
    told_to_stop(Signal::TERM);
}

#[test]
fn nodes_end_when_whoever_started_them_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launched(folder.path());
    super::run::kill(&mut launch);
    let start = Instant::now();
    while !processes(folder.path()).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?} are left", processes(folder.path()));
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("gone after {:?}", start.elapsed());
    // What the nodes recorded can be put together; a simulation is not what was asked for.
    let output = fabnet(folder.path()).args(["run", "--resume", "results"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("its run is one of real nodes"), "{message}");
    let states = (0..3).map(|node| format!("results/nodes/node-{node}/state"));
    let mut collect = fabnet(folder.path());
    collect.args(["collect", "experiment.toml", "--partial", "--quiet", "--out", "together"]).args(states);
    assert!(collect.status().unwrap().success());
    assert!(summary(&folder.path().join("together"))["runs"][0]["rounds"].as_u64() > Some(10));
}
