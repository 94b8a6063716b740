//! Whatever is in an audit log, its verification ends and says what it found; and lines whose
//! hashes are right are not called altered.
#![no_main]

use std::path::Path;

use fabnet_fuzz::{sha256, with_file};
use fabnet_net::{AuditFault, verify_audit_log};
use libfuzzer_sys::fuzz_target;

const SEAL: &str = ",\"hash\":\"";

fuzz_target!(|text: &str| {
    look(text);
    let repaired = repair(text);
    let faults = look(&repaired);
    assert!(!faults.iter().any(|fault| matches!(fault, AuditFault::Altered)), "{repaired}");
});

fn look(text: &str) -> Vec<AuditFault> {
    let files = with_file(Path::new("/state/audit.jsonl"), text.as_bytes());
    let report = verify_audit_log(&*files, Path::new("/state")).expect("the file can be read");
    report.faults.into_iter().map(|(_, fault)| fault).collect()
}

/// The same lines, each with the hash that belongs to it and with that of the line before.
fn repair(text: &str) -> String {
    let mut last = "0".repeat(64);
    let mut repaired = String::new();
    for line in text.lines() {
        let Some((open, _)) = line.rsplit_once(SEAL) else { continue };
        let open = match open.split_once("\"before\":\"").and_then(|(head, rest)| Some((head, rest.split_once('"')?.1)))
        {
            Some((head, rest)) => format!("{head}\"before\":\"{last}\"{rest}"),
            None => open.to_owned(),
        };
        last = sha256([open.as_bytes()]);
        repaired += &format!("{open}{SEAL}{last}\"}}\n");
    }
    repaired
}
