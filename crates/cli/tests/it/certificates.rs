//! `fabnet pki`, as those use it who admit nodes and those who run them.
#![cfg(all(unix, feature = "net"))]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use fabnet_net::{Authority, NodeIdentity, Validity};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fabnet, succeed};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    fabnet(folder).arg("pki").args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `pki inspect --json` says of one certificate.
fn inspected(folder: &Path, path: &str) -> Value {
    let output = run(folder, &["inspect", path, "--json"]);
    serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap().remove(0)
}

/// Refused with this exit code and these words, and nothing is written.
fn refused(folder: &Path, arguments: &[&str], code: i32, says: &str) {
    let names = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let before = (names(folder), names(&folder.join("certificates")));
    let output = run(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(message.contains(says), "{arguments:?}: {message}");
    assert_eq!((names(folder), names(&folder.join("certificates"))), before, "{arguments:?}");
}

/// A folder with an authority in `certificates`.
fn with_authority() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["pki", "init", "certificates"]);
    folder
}

/// A certificate is valid for this many days, of which a few seconds have passed.
fn is_valid_for(folder: &Path, name: &str, days: i64) -> bool {
    let left = inspected(folder, &format!("certificates/{name}.pem"))["days_left"].as_i64().unwrap();
    left == days || left == days - 1
}

#[test]
fn certificates_are_valid_for_the_days_that_were_asked_for() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "issue", "certificates", "alpha", "--host", "192.0.2.1"]);
    succeed(folder, &["pki", "issue", "certificates", "beta", "--days", "7"]);
    for (name, days) in [("ca", 730), ("alpha", 90), ("beta", 7)] {
        assert!(is_valid_for(folder, name, days), "{name}");
    }
    for wrong in ["0", "4000", "soon"] {
        refused(folder, &["issue", "certificates", "gamma", "--days", wrong], 2, "--days");
    }
    refused(folder, &["issue", "certificates", "alpha"], 1, "`fabnet pki renew`");
}

#[test]
fn a_certificate_is_renewed_for_the_same_key_and_hosts() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "issue", "certificates", "alpha", "--host", "192.0.2.1"]);
    let before = inspected(folder, "certificates/alpha.pem");
    let renewed = succeed(folder, &["pki", "renew", "certificates", "alpha", "--days", "30"]);
    assert!(out(&renewed).contains("certificates/alpha.pem, for 192.0.2.1, valid 20"), "{}", out(&renewed));
    let after = inspected(folder, "certificates/alpha.pem");
    assert!(is_valid_for(folder, "alpha", 30) && after["hosts"] == before["hosts"], "{after}");
    assert_eq!((&after["fingerprint"], &after["key"]["matches"]), (&before["fingerprint"], &true.into()));
    succeed(folder, &["pki", "renew", "certificates", "ca", "--days", "1000"]);
    assert!(is_valid_for(folder, "ca", 1000));
    refused(folder, &["renew", "certificates", "gamma"], 1, "certificates/gamma.pem");
}

#[test]
fn names_and_hosts_that_cannot_be_are_refused() {
    let home = with_authority();
    let folder = home.path();
    for name in ["../../escaped", "*", "", "ca", ".hidden"] {
        refused(folder, &["issue", "certificates", name], 2, &format!("`{name}`"));
        refused(folder, &["request", name], 2, &format!("`{name}`"));
    }
    refused(folder, &["issue", "certificates", "alpha", "--host", "alpha:7447"], 2, "`alpha:7447` is no host");
}

#[test]
fn a_key_stays_on_the_machine_of_its_node() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "request", "alpha", "--host", "a.example", "--out", "site"]);
    assert_eq!(folder.join("site/alpha.key").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let signed = succeed(folder, &["pki", "sign", "certificates", "site/alpha.csr", "--days", "20"]);
    assert!(out(&signed).contains("certificates/alpha.pem for `alpha`, for a.example, valid"), "{}", out(&signed));
    assert!(!folder.join("certificates/alpha.key").exists());
    // Back at the node, certificate and key match.
    fs::copy(folder.join("certificates/alpha.pem"), folder.join("site/alpha.pem")).unwrap();
    let alpha = inspected(folder, "site/alpha.pem");
    assert_eq!((&alpha["subject"], &alpha["key"]["matches"]), (&"alpha".into(), &true.into()));
    refused(folder, &["sign", "certificates", "site/alpha.csr"], 1, "exists already");
}

#[test]
fn a_request_that_was_changed_on_the_way_is_refused() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "request", "alpha", "--out", "site"]);
    let request = fs::read_to_string(folder.join("site/alpha.csr")).unwrap();
    // In the middle of the third line of its contents.
    let place = request.match_indices('\n').nth(2).unwrap().0 + 30;
    let other = if request.as_bytes()[place] == b'A' { "B" } else { "A" };
    let altered = [&request[..place], other, &request[place + 1..]].concat();
    fs::write(folder.join("site/altered.csr"), altered).unwrap();
    refused(folder, &["sign", "certificates", "site/altered.csr"], 2, "site/altered.csr: ");
    refused(folder, &["sign", "certificates", "certificates/ca.pem"], 2, "`fabnet pki request`");
}

#[test]
fn an_inspection_of_a_folder_shows_all_its_certificates_and_warns_of_open_keys() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "issue", "certificates", "alpha"]);
    let output = run(folder, &["inspect", "certificates"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let first: Vec<_> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(first, ["certificates/alpha.pem: alpha", "certificates/ca.pem: fabnet run authority"]);
    assert!(text.contains("certificates/alpha.key matches, mode 0600") && !text.contains("warning"), "{text}");
    fs::set_permissions(folder.join("certificates/alpha.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = run(folder, &["inspect", "certificates/alpha.pem"]);
    assert!(out(&output).contains("warning: others than its owner can use certificates/alpha.key (mode 0644)"));
    assert_eq!(output.status.code(), Some(0));
    fs::create_dir(folder.join("empty")).unwrap();
    refused(folder, &["inspect", "empty"], 2, "no file there ends in .pem");
    refused(folder, &["inspect", "certificates/alpha.key"], 2, "it holds no certificate");
}

#[test]
fn a_key_of_another_certificate_is_a_problem() {
    let home = with_authority();
    let folder = home.path();
    succeed(folder, &["pki", "issue", "certificates", "alpha"]);
    succeed(folder, &["pki", "issue", "certificates", "beta"]);
    fs::copy(folder.join("certificates/beta.key"), folder.join("certificates/alpha.key")).unwrap();
    let output = run(folder, &["inspect", "certificates/beta.pem", "certificates/alpha.pem"]);
    assert!(out(&output).contains("problem: certificates/alpha.key is not its key"), "{}", out(&output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_certificate_that_has_expired_is_a_problem() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let authority = Authority::create(&folder.join("certificates"), Validity::OF_AUTHORITIES).unwrap();
    authority.issue(&NodeIdentity::new("gamma", Vec::new()).unwrap(), Duration::ZERO).unwrap();
    std::thread::sleep(Duration::from_millis(2100));
    let output = run(folder, &["inspect", "certificates/gamma.pem"]);
    let text = out(&output);
    assert!(text.contains("-1 days left") && text.contains("problem: it has expired"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}
