//! Own data from a table, and an experiment that learns from it.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fabnet, succeed, summary};

/// Writes a table of two classes that a line separates, of three hospitals; one label in five is
/// wrong, and a column says which were verified.
fn table(folder: &Path) {
    let mut text = "id,a,b,diagnosis,hospital,verified\n".to_owned();
    for row in 0..600_u32 {
        let (a, b) = (f64::from(row * 7919 % 1000) / 1000.0, f64::from(row * 104_729 % 997) / 997.0);
        let verified = row % 4 == 0;
        let is_wrong = !verified && row % 5 == 3;
        let class = if (a > b) == is_wrong { "well" } else { "ill" };
        writeln!(text, "p{row},{a},{b},{class},{},{verified}", ["north", "south", "west"][row as usize % 3]).unwrap();
    }
    std::fs::write(folder.join("patients.csv"), text).unwrap();
}

const COLUMNS: [&str; 9] =
    ["data", "import", "patients.csv", "--label", "diagnosis", "--site", "hospital", "--drop", "id"];

#[test]
fn an_experiment_learns_from_an_imported_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    let more = ["--checked-column", "verified", "--scale", "standard", "--out", "data"];
    let output = succeed(folder, &[&COLUMNS[..], &more].concat());
    let report = String::from_utf8(output.stdout).unwrap();
    for says in [
        "rows of 2 numbers in 2 classes",
        "agent 1 (south): 150 to train with, 45 verified, 5 to test with",
        "classes     ill:",
        "duplicates  0 repeat a row of this site",
        "agents = 3\n  [problem]\n  data = \"own\"\n  features = 2\n  classes = 2",
    ] {
        assert!(report.contains(says), "{says}: {report}");
    }
    let experiment = "agents = 3\nrounds = 300\nseeds = 1\n[problem]\nkind = \"hyper-cleaning\"\ndata = \"own\"\n\
                      features = 2\nclasses = 2\nhidden = 8\nbatch = 30\n[topology]\nkind = \"complete\"\n\
                      [[algorithm]]\nkind = \"fab\"\npenalty = 5\nnormalised = false\n\
                      steps = { x = 50, y = 0.2, z = 0.2 }\n[record]\nmetrics = [\"accuracy\"]\n";
    std::fs::write(folder.join("cleaning.toml"), experiment).unwrap();
    succeed(folder, &["run", "cleaning.toml", "--quiet", "--data", "data", "--out", "out"]);
    let accuracy = summary(&folder.join("out"))["runs"][0]["final"]["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.85, "{accuracy}");
    // A suspected sample is found in the table by its origin.
    let suspects = std::fs::read_to_string(folder.join("out/findings/fab/suspects.csv")).unwrap();
    let suspect: Vec<&str> = suspects.lines().nth(1).unwrap().split(',').collect();
    let origins = std::fs::read_to_string(folder.join(format!("data/own/{}.csv", suspect[0]))).unwrap();
    let origin = origins.lines().find(|line| line.starts_with(&format!("train,{},", suspect[2]))).unwrap();
    let line: usize = origin.rsplit(':').next().unwrap().parse().unwrap();
    let source = std::fs::read_to_string(folder.join("patients.csv")).unwrap();
    assert!(source.lines().nth(line - 1).unwrap().ends_with(",false"), "{origin}");
}

#[test]
fn what_cannot_be_imported_is_wrong_usage_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    let path = folder.join("patients.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text + "p,?,1,ill,north,true\n").unwrap();
    for (arguments, says) in [
        (vec!["--out", "data", "--drop", "verified"], "patients.csv:602: column `a`: \"?\", expected a finite number"),
        (vec!["--out", "data", "--sites", "2"], "cannot be used with"),
        (vec!["--out", "data", "--delimiter", "ab"], "expected one ASCII character"),
        (vec!["--out", "data", "--checked", "1"], "--checked is a fraction above 0 and below 1"),
        (vec!["--out", "data", "--like", "nowhere.json"], "nowhere.json"),
    ] {
        let output = fabnet(folder).args(COLUMNS).args(&arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(says), "{arguments:?}: {message}");
        assert!(!folder.join("data/own").exists(), "{arguments:?}");
    }
}
