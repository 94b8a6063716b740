//! Experiment files that `fabnet new` writes.

use crate::common::{fabnet, succeed, summary};

#[test]
fn every_template_is_read_checked_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (template, subcommand) in [("first", "run"), ("cleaning", "run"), ("tuning", "run"), ("network", "launch")] {
        let (name, file) = (format!("my-{template}"), format!("my-{template}.toml"));
        let said = succeed(folder, &["new", &name, "--from", template]).stdout;
        let said = String::from_utf8(said).unwrap();
        assert!(
            said.starts_with(&format!("{file} is written. Next:\n  fabnet check {file}\n  fabnet {subcommand} {file}")),
            "{said}"
        );
        let report = succeed(folder, &["check", &file, "--json"]).stdout;
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        assert_eq!((&report["name"], &report["verdict"]), (&name.clone().into(), &"ok".into()), "{report}");
        succeed(folder, &["run", &file, "--quiet", "--seeds", "1", "--set", "rounds=40", "--out", &name]);
        let results = summary(&folder.join(&name));
        let runs = results["runs"].as_array().unwrap();
        assert!(!runs.is_empty() && runs.iter().all(|run| run["outcome"] == "finished"), "{runs:?}");
    }
}

/// What the first lines of the templates promise, with the seeds that the files name.
#[test]
fn templates_keep_what_they_promise() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let result = |template: &str, label: &str, metric: &str| {
        if !folder.join(template).exists() {
            succeed(folder, &["new", &format!("my-{template}"), "--from", template]);
            succeed(folder, &["run", &format!("my-{template}.toml"), "--quiet", "--out", template]);
        }
        let groups = summary(&folder.join(template))["groups"].clone();
        let group = groups.as_array().unwrap().iter().find(|group| group["label"] == label).cloned();
        group.unwrap()["final"][metric]["median"].as_f64().unwrap()
    };
    assert!(result("cleaning", "learned", "accuracy") > 0.8);
    assert!(result("cleaning", "unweighted", "accuracy") < 0.7);
    assert!(result("cleaning", "learned", "auc") > 0.8);
    assert!(result("tuning", "learned", "upper") < 0.8 * result("tuning", "fixed", "upper"));
    assert!(result("tuning", "learned", "accuracy") > result("tuning", "fixed", "accuracy") + 0.05);
    assert!(result("network", "dfab", "relative_error") < 1e-6);
}

#[cfg(feature = "net")]
#[test]
fn real_nodes_carry_out_the_template_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["new", "mine", "--from", "network"]);
    succeed(folder, &["launch", "mine.toml", "--quiet", "--out", "out"]);
    let error = summary(&folder.join("out"))["groups"][0]["final"]["worst_error"]["median"].as_f64();
    assert!(error.is_some_and(|error| error < 1e-6), "{error:?}");
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("mine.toml"), "dear to me").unwrap();
    for (name, says) in [
        ("mine", "mine.toml is there already"),
        ("mine.toml", "mine.toml is there already"),
        ("nowhere/mine", "its folder is not there"),
        ("a b", "cannot name an experiment"),
    ] {
        let output = fabnet(folder).args(["new", name]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(says), "{name}: {message}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("mine.toml")).unwrap(), "dear to me");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}
