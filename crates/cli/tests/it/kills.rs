//! `fabnet run` is killed at random moments and resumed until it ends: its results are those of an
//! undisturbed run, and none is missing.
//!
//! With the environment variable `FABNET_KILLS=200`, it is killed 200 times instead of 40.

#![allow(clippy::disallowed_methods, reason = "kills come at random times")]
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{fabnet, folder_in_memory, records, succeed, summary};

/// Six groups with three seeds each, with checkpoints after every record.
const EXPERIMENT: &str = r#"
agents = 12
rounds = 400
seeds = 3

[problem]
kind = "policy-evaluation"
noise = 0.5

[[algorithm]]
kind = "fab"
penalty = [50, 80, 100]
steps = { x = 0.1, y = 0.1, z = 0.1 }

[[algorithm]]
kind = "dfab"

[[algorithm]]
kind = "push-pull-soba"
steps = { x = 0.05, y = 0.05, v = 0.05 }

[[algorithm]]
label = "cleaning"
kind = "fab"
problem = { kind = "hyper-cleaning", data = "synthetic", samples_per_agent = 20, batch = 8, hidden = 4 }
normalised = false
steps = { x = 5, y = 0.05, z = 0.05 }

[record]
every = 10
metrics = ["relative_error", "accuracy"]
solutions = "all"
"#;

/// A generator of random numbers, by a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The results of a run, without what depends on time.
#[derive(Debug, PartialEq)]
struct Results {
    records: Vec<String>,
    finals: Vec<serde_json::Value>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

fn results(folder: &Path) -> Results {
    let summary = summary(folder);
    let finals = summary["runs"].as_array().unwrap().iter().map(|run| {
        let part = |key: &str| run[key].clone();
        ["run", "label", "seed", "outcome", "rounds", "final", "bytes_per_agent", "solution"].map(part).into()
    });
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(within) = folders.pop() {
        for path in std::fs::read_dir(within).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_owned();
            let timed = ["records.csv", "summary.json"].iter().any(|timed| name == Path::new(timed))
                || name.to_str().unwrap().contains("-by-seconds");
            files.insert(name, if timed { Vec::new() } else { std::fs::read(&path).unwrap() });
        }
    }
    Results { records: records(folder), finals: finals.collect(), files }
}

/// The moment at which a process is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// This time after the process has started.
    After(Duration),
    /// This time after a file has appeared.
    Behind(&'static str, Duration),
}

impl Moment {
    fn draw(draws: &mut Draws, whole: Duration) -> Self {
        let time = Duration::from_micros(draws.below(whole.as_micros() as u64));
        let soon = Duration::from_micros(draws.below(3000));
        match draws.below(4) {
            0 => Self::Behind("summary.json", time / 4),
            1 => Self::Behind("jobs.done", soon / 3),
            _ => Self::After(time),
        }
    }
}

/// Kills a process at a moment, unless it ends before; returns whether it was killed.
fn kill(mut process: Child, folder: &Path, moment: Moment) -> bool {
    let mut since = Instant::now();
    let (file, time) = match moment {
        Moment::After(time) => (None, time),
        Moment::Behind(file, time) => (Some(folder.join(file)), time),
    };
    loop {
        if file.as_ref().is_some_and(|file| !file.exists()) {
            since = Instant::now();
        }
        if since.elapsed() >= time && file.as_ref().is_none_or(|file| file.exists()) {
            process.kill().unwrap();
        } else {
            std::thread::yield_now();
        }
        if let Some(status) = process.try_wait().unwrap() {
            assert!(status.success() || status.code().is_none(), "it ended by itself with {status}");
            return !status.success();
        }
    }
}

fn begin_or_resume(home: &Path, out: &str) -> Child {
    let mut command = fabnet(home);
    command.args(["run", "--quiet", "--threads", "2", "--checkpoint-every", "0s"]);
    if home.join(out).join("plan.toml").exists() {
        command.args(["--resume", out]);
    } else {
        command.args(["experiment.toml", "--out", out]);
    }
    command.stderr(Stdio::inherit()).spawn().unwrap()
}

#[test]
fn random_kills_change_no_result() {
    let wanted: usize = std::env::var("FABNET_KILLS").map_or(40, |number| number.parse().unwrap());
    let home = folder_in_memory();
    let path = home.path();
    std::fs::write(path.join("experiment.toml"), EXPERIMENT).unwrap();
    let started = Instant::now();
    succeed(path, &["run", "experiment.toml", "--out", "whole", "--quiet", "--checkpoint-every", "0s"]);
    let (whole, expected) = (started.elapsed(), results(&path.join("whole")));
    assert_eq!(expected.finals.len(), 18);

    let (mut draws, mut kills, mut chains, mut longest, mut at_the_end) = (Draws(18), 0, 0, 0, 0);
    while kills < wanted {
        chains += 1;
        let out = format!("chain-{chains}");
        let mut in_chain = 0;
        // A chain is killed up to four times in succession; then it may end.
        loop {
            let process = begin_or_resume(path, &out);
            let moment = Moment::draw(&mut draws, whole);
            let moment = if in_chain < 4 { moment } else { Moment::After(Duration::MAX) };
            if !kill(process, &path.join(&out), moment) {
                break;
            }
            in_chain += 1;
            let is_there = |name: &str| path.join(&out).join(name).exists();
            at_the_end += usize::from(is_there("plan.toml") && !is_there("jobs"));
        }
        assert!(expected == results(&path.join(&out)), "chain {chains} after {in_chain} kills");
        std::fs::remove_dir_all(path.join(&out)).unwrap();
        (kills, longest) = (kills + in_chain, longest.max(in_chain));
    }
    println!(
        "{kills} kills in {chains} chains, up to {longest} in succession, {at_the_end} of them during the removal of jobs/"
    );
}
