//! Results are bitwise the same for any number of threads, for the written plan, and after a kill.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{fabnet, records, succeed, summary};

/// A quick experiment with a noisy problem, one with mini-batches and private sample weights, a
/// graph that is redrawn, both precisions, automatic step sizes and a run that diverges.
const MIXED: &str = r#"
agents = [5, 8]
rounds = 400
seeds = "3..6"
precision = ["f64", "f32"]

[problem]
kind = "policy-evaluation"
noise = 0.5

[topology]
kind = "erdos-renyi"
redraw = "every round"

[[algorithm]]
kind = "dfab"

[[algorithm]]
kind = "fab"
steps = [{ x = 0.1, y = 0.1, z = 0.1 }, { x = 9.0, y = 3.0, z = 0.1 }]

[[algorithm]]
label = "alone"
kind = "push-pull"
problem = { kind = "quadratic" }
topology = { kind = "ring", undirected = true }
steps = { x = 0.05, momentum = 0.5, decay = 1e-3 }

[[algorithm]]
label = "cleaning"
kind = "fab"
penalty = 5
normalised = false
problem = { kind = "hyper-cleaning", data = "synthetic", samples_per_agent = 60, concentration = 0.2, batch = 8, hidden = 12 }
steps = { x = 50, y = 0.05, z = 0.05 }

[record]
every = 30
metrics = ["relative_error", "hypergradient", "upper", "consensus", "mass_residual", "bellman", "accuracy_worst", "auc"]
"#;

/// An experiment that is long enough to be killed in the middle.
const LONG: &str = r#"
agents = 60
rounds = 6000
seeds = 3

[problem]
kind = "policy-evaluation"
noise = 1.0

[[algorithm]]
kind = "fab"
steps = { x = 0.1, y = 0.1, z = 0.1, momentum = 0.3 }

[[algorithm]]
kind = "dfab"

[record]
every = 50
metrics = ["relative_error", "lower_gap", "penalty_bias"]
"#;

fn finals(folder: &Path) -> Vec<serde_json::Value> {
    let summary = summary(folder);
    let run = |run: &serde_json::Value| {
        serde_json::json!([
            run["label"],
            run["seed"],
            run["outcome"],
            run["rounds"],
            run["final"],
            run["bytes_per_agent"]
        ])
    };
    summary["runs"].as_array().unwrap().iter().map(run).collect()
}

#[test]
fn threads_and_the_written_plan_do_not_change_a_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("mixed.toml"), MIXED).unwrap();
    succeed(path, &["run", "mixed.toml", "--out", "one", "--threads", "1", "--quiet"]);
    succeed(path, &["run", "mixed.toml", "--out", "two", "--threads", "2", "--quiet"]);
    succeed(path, &["run", "one/plan.toml", "--out", "again", "--quiet"]);
    let one = records(&path.join("one"));
    assert!(one.len() > 400 && one[1..].windows(2).any(|pair| pair[0] != pair[1]));
    for other in ["two", "again"] {
        assert_eq!(one, records(&path.join(other)), "{other}");
        assert_eq!(finals(&path.join("one")), finals(&path.join(other)), "{other}");
    }
    let plan = |name: &str| std::fs::read_to_string(path.join(name).join("plan.toml")).unwrap();
    assert_eq!(plan("one"), plan("again"));
}

/// Starts the long experiment and sends it a signal in the middle.
fn disturbed(path: &Path, out: &str, signal: &str) -> std::process::Output {
    std::fs::write(path.join("long.toml"), LONG).unwrap();
    let arguments = ["run", "long.toml", "--out", out, "--checkpoint-every", "20ms"];
    let mut running = fabnet(path).args(arguments).stderr(Stdio::piped()).spawn().unwrap();
    // Run 3 has a checkpoint: now some runs are done, some are under way, and some have not begun.
    while !path.join(out).join("jobs/00003.state").exists() {
        assert!(running.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", running.id())]).status().unwrap();
    assert!(kill.success());
    running.wait_with_output().unwrap()
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    disturbed(path, "killed", "KILL");
    succeed(path, &["run", "long.toml", "--out", "whole", "--quiet"]);
    let killed = path.join("killed");
    // One of two threads may carry out several runs while the other one is still at its first.
    let done = (0..3).any(|run| killed.join(format!("jobs/{run:05}.json")).exists());
    assert!(done && !killed.join("summary.json").exists());
    succeed(path, &["run", "--resume", "killed", "--quiet"]);
    assert_eq!(records(&path.join("whole")), records(&killed));
    assert_eq!(finals(&path.join("whole")), finals(&killed));
    assert!(!killed.join("jobs").exists());
    let again = succeed(path, &["run", "--resume", "killed"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("nothing to resume"));
}

#[test]
fn ctrl_c_stops_cleanly_keeps_what_was_recorded_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let output = disturbed(path, "stopped", "INT");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("Go on with: fabnet run --resume stopped"), "{message}");
    let recorded = records(&path.join("stopped"));
    let done = summary(&path.join("stopped"))["runs"].as_array().unwrap().len();
    assert!((1..6).contains(&done), "{done} runs were done");
    succeed(path, &["run", "long.toml", "--resume", "stopped", "--quiet"]);
    succeed(path, &["run", "long.toml", "--out", "whole", "--quiet"]);
    let whole = records(&path.join("whole"));
    assert_eq!(whole, records(&path.join("stopped")));
    assert!(recorded.len() > 100 && recorded.iter().all(|row| whole.contains(row)));
}
