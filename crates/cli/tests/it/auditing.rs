//! `fabnet audit verify`, as those use it who look into what a node did.
#![cfg(feature = "net")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::SystemFiles;
use fabnet_net::{AuditEvent, AuditLog};
use tempfile::TempDir;

use crate::common::fabnet;

/// A state folder with an audit log of six lines.
fn state() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut log = AuditLog::new(Arc::new(SystemFiles::PRIVATE), folder.path());
    for member in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"] {
        log.add(Duration::from_secs(1_800_000_000), AuditEvent::new("admission", "heard").about(member));
    }
    log.finish(Duration::ZERO);
    folder
}

fn lines(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("audit.jsonl")).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The exit code of a verification, and what it prints.
fn verify(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = fabnet(folder).args(["audit", "verify", "."]).args(arguments).output().unwrap();
    let (out, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), format!("{out}{wrong}"))
}

#[test]
fn a_log_as_it_was_written_is_intact_and_its_last_hash_is_told() {
    let folder = state();
    let (code, text) = verify(folder.path(), &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("6 lines in 1 file, as they were written"), "{text}");
    let hash = text.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(verify(folder.path(), &["--holds", &hash]).0, Some(0));
    // Without its end, the log looks intact to whoever has noted nothing.
    fs::write(folder.path().join("audit.jsonl"), lines(folder.path())[..4].concat()).unwrap();
    assert_eq!(verify(folder.path(), &[]).0, Some(0));
    let (code, text) = verify(folder.path(), &["--holds", &hash]);
    assert!(code == Some(1) && text.contains("the log was cut off, or written anew"), "{text}");
}

#[test]
fn a_log_that_was_tampered_with_is_named_with_file_and_line() {
    type Tamper = fn(&mut Vec<String>);
    let cases: [(Tamper, &str); 4] = [
        (|lines| lines[2] = lines[2].replace("gamma", "omega"), "./audit.jsonl:3: this line was altered"),
        (|lines| _ = lines.remove(2), "./audit.jsonl:3: line number 2 is missing before this line"),
        (|lines| lines.swap(1, 4), "./audit.jsonl:2: this line is out of order"),
        (|lines| lines[5].truncate(30), "./audit.jsonl:6: the last line is torn: 30 bytes"),
    ];
    for (tamper, says) in cases {
        let folder = state();
        let mut lines = lines(folder.path());
        tamper(&mut lines);
        fs::write(folder.path().join("audit.jsonl"), lines.concat()).unwrap();
        let (code, text) = verify(folder.path(), &[]);
        assert!(code == Some(1) && text.contains(says) && text.contains("not as they were written"), "{says}: {text}");
        let (code, text) = verify(folder.path(), &["--json"]);
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(code == Some(1) && !found["faults"].as_array().unwrap().is_empty(), "{text}");
    }
}

#[test]
fn a_folder_without_a_log_says_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = verify(folder.path(), &[]);
    assert!(code == Some(1) && text.contains("a node keeps it in its state folder"), "{text}");
}
