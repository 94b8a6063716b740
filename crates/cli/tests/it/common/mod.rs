//! What several tests share: the command itself, as users run it.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, in a folder.
pub fn fabnet(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabnet"));
    command.current_dir(folder);
    command
}

/// Runs it; it must succeed.
pub fn succeed(folder: &Path, arguments: &[&str]) -> Output {
    let output = fabnet(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "fabnet {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// `summary.json` of a folder.
pub fn summary(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap()
}

/// `records.csv` without its seconds: labels in these tests have no comma.
pub fn records(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("records.csv")).unwrap();
    let without_seconds = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        [&cells[..4], &cells[5..]].concat().join(",")
    };
    text.lines().map(without_seconds).collect()
}

/// A folder in memory, where the system has one: tests that end processes do not depend on how fast
/// a disk is.
pub fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in(fabnet_files::test_support::memory_folder()).unwrap()
}

/// Ports of this machine that nobody listens on.
pub fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> = (0..count).map(|_| std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
