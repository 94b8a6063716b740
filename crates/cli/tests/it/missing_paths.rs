//! Whatever a command is to read, a path at which there is nothing is named as such.
#![cfg(all(feature = "learning", feature = "net"))]

use std::path::Path;

use crate::common::{fabnet, repository, succeed};

/// The arguments of every command that reads a folder or a file, with a path that does not exist.
const CASES: [&[&str]; 32] = [
    &["run", "nowhere"],
    &["run", "--resume", "nowhere"],
    &["run", "network.toml", "--data", "nowhere"],
    &["check", "nowhere"],
    &["tune", "nowhere"],
    &["bench", "run", "nowhere", "--out", "benchmark.json"],
    &["bench", "merge", "nowhere", "benchmark.json", "others.json"],
    &["bench", "report", "nowhere", "r.json", "page.md", "--out", "p.md", "--figures", "figures"],
    &["plot", "nowhere"],
    &["plot", "results", "nowhere"],
    &["plot", "results", "nowhere", "--out", "together.svg"],
    &["watch", "nowhere"],
    &["watch", "nowhere", "--run", "2"],
    &["watch", "nowhere", "--export", "page.html"],
    &["report", "nowhere"],
    &["report", "template.md", "--runs", "nowhere"],
    &["report", "template.md", "--runs", "nowhere", "--reduce", "reduced"],
    &["node", "nowhere"],
    &["launch", "nowhere"],
    &["collect", "nowhere", "results"],
    &["collect", "network.toml", "results", "nowhere"],
    &["collect", "network.toml", "nowhere", "--partial"],
    &["pki", "issue", "nowhere", "alpha"],
    &["pki", "renew", "nowhere", "alpha"],
    &["pki", "sign", "nowhere", "network.toml"],
    &["pki", "sign", "results", "nowhere"],
    &["pki", "inspect", "nowhere"],
    &["audit", "verify", "nowhere"],
    &["data", "divide", "nowhere", "--out", "shares"],
    &["data", "import", "nowhere", "--out", "own"],
    &["data", "import", "nowhere.csv", "--label", "last", "--out", "own"],
    &["data", "import", "table.csv", "--label", "last", "--like", "nowhere", "--out", "own"],
];

/// The names of all files and folders in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_path_that_does_not_exist_is_named_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    std::fs::copy(repository("experiments/network.toml"), folder.join("network.toml")).unwrap();
    std::fs::write(folder.join("template.md"), "{{ nothing | fab | diverged }}").unwrap();
    std::fs::write(folder.join("table.csv"), "a,last\n1,0\n2,1\n").unwrap();
    succeed(folder, &["run", "network.toml", "--quiet", "--set", "rounds=20", "--out", "results"]);
    let before = names(folder);
    for arguments in CASES {
        let output = fabnet(folder).args(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let said = message.to_lowercase();
        assert!(said.contains("nowhere"), "fabnet {arguments:?}: {message}");
        let missing = said.contains("there is no such f") || said.contains("no such file or directory");
        assert!(missing, "fabnet {arguments:?}: {message}");
        assert_eq!(output.status.code(), Some(2), "fabnet {arguments:?}: {message}");
        assert_eq!(names(folder), before, "fabnet {arguments:?} has written something");
        let reads_results = ["plot", "watch"].contains(&arguments[0]) || arguments.contains(&"--resume");
        assert!(!reads_results || said.contains("folders with results: results"), "fabnet {arguments:?}: {message}");
    }
}
