//! `fabnet check` predicts what a run will show.
#![allow(clippy::disallowed_methods, reason = "what is measured is time")]

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::common::{fabnet, repository, succeed};

fn check(folder: &Path, file: &str, changes: &[&str]) -> String {
    let changes = changes.iter().flat_map(|change| ["--set", change]);
    let arguments: Vec<&str> = ["check", file].into_iter().chain(changes).collect();
    String::from_utf8(succeed(folder, &arguments).stdout).unwrap()
}

#[test]
fn the_rows_of_the_sensitivity_table_that_diverge_are_warned_of_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/paper/sensitivity.toml");
    let text = check(folder.path(), file.to_str().unwrap(), &[]);
    let warned: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("warning: ")?.split(':').next()).collect();
    assert_eq!(
        warned,
        ["fab x=0.1 y=0.12 z=0.1", "fab x=0.1 y=0.14 z=0.1", "fab x=0.1 y=0.1 z=0.06", "fab x=0.1 y=0.1 z=0.08"],
        "{text}"
    );
}

#[test]
fn step_sizes_that_are_too_large_for_the_network_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/first.toml");
    let ring = check(folder.path(), file.to_str().unwrap(), &["topology={ kind = \"ring\" }"]);
    let warned: Vec<&str> = ring.lines().filter(|line| line.starts_with("warning: ")).collect();
    // Automatic step sizes adapt; those of FAB do not.
    assert!(warned.len() == 1 && warned[0].starts_with("warning: fab: 3 of 3 trial runs"), "{ring}");
    let fine = check(folder.path(), file.to_str().unwrap(), &["topology={ kind = \"complete\" }"]);
    assert!(fine.contains("verdict: no problem found"), "{fine}");
    for fact in [
        "C = 1",
        "from any agent reaches all within 1 rounds",
        "a = 0.1000, b = 0.1000",
        "1.000: the effective step size is κ·η",
        "9.00 per agent and round",
        "σ_max(J) = ",
        "720-byte payload per message",
        "2 of 5 seeds were not tried (3 to 4)",
    ] {
        assert!(fine.contains(fact), "{fact} is missing in\n{fine}");
    }
}

#[test]
fn the_cleaning_experiment_that_works_is_not_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/checks/hyper-cleaning-small.toml");
    let text =
        check(folder.path(), file.to_str().unwrap(), &["problem.data=synthetic", "problem.samples_per_agent=300"]);
    assert!(text.contains("verdict: no problem found"), "{text}");
}

#[test]
fn scripts_read_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = repository("experiments/first.toml");
    let output = succeed(folder.path(), &["check", file.to_str().unwrap(), "--json"]);
    let check: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&check["format"], &check["verdict"]), (&Value::from(1), &Value::from("ok")));
    let trial = &check["groups"][1]["trials"][0];
    assert_eq!((&trial["forecast"], &trial["seed"]), (&Value::from("stable"), &Value::from(0)));
    let rounds = trial["rounds"].as_u64().unwrap();
    assert!(rounds > 200 && rounds <= 250, "at most one in 20 of 5,000 rounds: {rounds}");
    for path in [
        "/networks/0/kappa",
        "/groups/0/needs/graph_bytes",
        "/groups/0/needs/state_bytes",
        "/groups/0/bytes_per_agent",
        "/groups/0/seconds",
        "/groups/0/step_sizes/plan/mixings",
        "/groups/1/step_sizes/tolerated_lower",
        "/total/memory_bytes",
        "/total/runs",
        "/not_checked/0",
    ] {
        assert!(check.pointer(path).is_some_and(|value| !value.is_null()), "{path}: {check:#}");
    }
}

#[test]
fn what_cannot_fit_is_refused_in_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    let text = "rounds = 100\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\nsteps = 0.01\n";
    std::fs::write(folder.path().join("large.toml"), text).unwrap();
    let dense = ["--set", "agents=100000", "--set", "topology={ kind = \"erdos-renyi\", edge_probability = 0.3 }"];
    let complete = ["--set", "agents=1000000", "--set", "topology={ kind = \"complete\" }"];
    let states = [
        "--set",
        "agents=50000",
        "--set",
        "topology={ kind = \"ring\" }",
        "--set",
        "problem={ kind = \"quadratic\", inner = 50000 }",
        "--set",
        "algorithm=[{ kind = \"push-pull\", steps = 0.1 }]",
    ];
    for (changes, reason) in [(&complete[..], "1.0e12 links"), (&dense[..], "links"), (&states[..], "states")] {
        for command in ["check", "run"] {
            let start = Instant::now();
            let arguments = [&[command, "large.toml"], changes].concat();
            let output = fabnet(folder.path()).args(&arguments).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("of memory") && said.contains(reason) && said.contains("take "), "{said}");
            assert!(start.elapsed().as_secs_f64() < 1.0, "{command} took {:?}", start.elapsed());
        }
    }
}

/// The last group of an experiment cannot run. That is found before the first group is run.
#[test]
fn every_group_is_validated_before_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let text = "agents = 4\nrounds = 1000000\n[problem]\nkind = \"bilevel-quadratic\"\nprivate = 2\n[topology]\nkind = \"ring\"\n\
                [[algorithm]]\nkind = \"fab\"\nsteps = 0.01\n[[algorithm]]\nlabel = \"double\"\nkind = \"dl-push-pull\"\nsteps = 0.1\n";
    std::fs::write(folder.path().join("mixed.toml"), text).unwrap();
    for command in ["run", "tune"] {
        let output = fabnet(folder.path()).args([command, "mixed.toml"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("`double`: ") && said.contains("private coordinates"), "{said}");
        assert!(
            !folder.path().join("runs").exists() || std::fs::read_dir(folder.path().join("runs")).unwrap().count() == 0
        );
    }
    // A method without automatic step sizes says how to give them.
    let output = fabnet(folder.path()).args(["run", "mixed.toml", "--set", "algorithm.1.steps=auto"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("`algorithm.steps`") && said.contains("outer = 0.1"),
        "{said}"
    );
}
