//! Certificates of real nodes: they expire and are renewed while nodes run.

use std::time::{Duration, Instant};

use fabnet_net::{Authority, NodeIdentity, Tls, Validity};

use super::run::{Nodes, kill};
use crate::common::succeed;

/// Nodes over mutual TLS, whose certificates are valid for this long from now on.
fn secure(count: usize, rounds: u64, network: &str, valid_for: Duration) -> Nodes {
    let mut nodes = Nodes::new(count, rounds, network);
    let authority = Authority::create(&nodes.path("pki"), Validity::OF_AUTHORITIES).unwrap();
    for config in &mut nodes.configs {
        let node = NodeIdentity::new(&config.node, vec!["127.0.0.1".to_owned()]).unwrap();
        let (certificate, key) = authority.issue(&node, valid_for).unwrap();
        let name = certificate.path().file_name().unwrap();
        let certificate = std::path::Path::new("pki").join(name);
        config.tls = Some(Tls {
            ca: "pki/ca.pem".into(),
            certificate,
            key: key.strip_prefix(nodes.folder.path()).unwrap().to_owned(),
        });
        config.insecure = false;
    }
    nodes
}

/// Asks a node until it has done this many rounds more.
fn goes_on(nodes: &Nodes, node: usize, rounds: u64) {
    let round = nodes.wait(node, |_| true).agents[0].round;
    nodes.wait(node, |status| status.agents[0].round > round + rounds);
}

/// Sessions outlive the certificates that they were made with; a node that is started again needs
/// a valid one.
#[test]
fn a_certificate_that_expires_during_a_run_ends_no_session_and_admits_no_restart() {
    let nodes = secure(2, 1_000_000, "tick = 0.02", Duration::from_secs(12));
    let mut running = nodes.start_all();
    let status = nodes.wait(0, |status| status.begun && status.agents[0].round > 20);
    assert_eq!(status.certificate.map(|certificate| certificate.days_left), Some(0));
    let expired = |node: usize| nodes.wait(node, |status| status.certificate.as_ref().unwrap().days_left < 0);
    let heard: Vec<u64> = [0, 1].map(|node| expired(node).agents[0].messages["applied"]).into();
    std::thread::sleep(Duration::from_secs(3));
    for (node, before) in heard.into_iter().enumerate() {
        goes_on(&nodes, node, 100);
        let status = nodes.wait(node, |_| true);
        // Of the messages of about 250 rounds, not all are applied at free pace.
        assert!(status.agents[0].messages["applied"] > before + 20 && status.absent.is_empty(), "{status:#?}");
        assert_eq!((status.renewals, status.refused["certificate"]), (0, 0), "{status:#?}");
    }
    kill(&mut running[1]);
    let mut again = nodes.start(1);
    assert_eq!(nodes.end(&mut again), 1);
    let log = nodes.log("n1");
    assert!(
        log.contains("pki/n1.pem: this certificate has expired") && log.contains("fabnet pki renew FOLDER n1"),
        "{log}"
    );
}

/// Every node takes a new certificate in turn while all run; none misses anything that its answer
/// needs.
#[test]
fn a_new_certificate_is_used_without_a_restart() {
    let nodes = secure(3, 4000, "tick = 0.01", Validity::OF_NODES);
    let mut running = nodes.start_all();
    nodes.wait(0, |status| status.begun && status.agents[0].round > 50);
    for node in 0..3 {
        let name = &nodes.configs[node].node;
        succeed(nodes.folder.path(), &["pki", "renew", "pki", name, "--days", "300"]);
        let start = Instant::now();
        let status =
            nodes.wait(node, |status| status.certificate.as_ref().unwrap().days_left > 200 && status.renewals == 1);
        println!(
            "{name}: a new connection {:?} after the file changed, in round {}",
            start.elapsed(),
            status.agents[0].round
        );
        nodes.wait(node, |status| status.absent.is_empty());
        assert!(nodes.log(name).contains("a new certificate is used"), "{}", nodes.log(name));
    }
    nodes.all_end_well(&mut running);
    nodes.assert_right();
}
