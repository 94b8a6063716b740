//! Certificates that expire, and that are renewed while a node runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fabnet_net::{Config, Inbox, MemoryNetwork, OpenError, OpenedTransport, Reconnect, TransportFactory, Validity};

use crate::cluster::Cluster;

/// A network in memory whose connections can be replaced.
struct Replaceable {
    network: MemoryNetwork,
    asked: Arc<Asked>,
}

/// How often a new connection was asked for, and whether it is granted.
#[derive(Default)]
struct Asked {
    count: AtomicU64,
    is_busy: AtomicBool,
}

impl Reconnect for Asked {
    fn reconnect(&self, _addresses: Vec<String>) {}

    fn reopen(&self) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed);
        !self.is_busy.load(Ordering::Relaxed)
    }

    fn reconnections(&self) -> u64 {
        0
    }
}

impl TransportFactory for Replaceable {
    fn open(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<OpenedTransport, OpenError> {
        let opened = self.network.open(config, inbox)?;
        Ok(OpenedTransport { reconnect: Some(self.asked.clone()), ..opened })
    }
}

#[test]
fn a_node_whose_certificate_has_expired_is_refused_before_anything_is_written_or_sent() {
    let mut cluster = Cluster::new(2, 100, "");
    let authority = cluster.secure();
    cluster.clock.advance(Validity::OF_NODES + Duration::from_secs(1));
    let error = cluster.open(0).err().unwrap().to_string();
    assert!(error.starts_with("/pki/n0.pem: this certificate has expired: it was valid 2023-11-14"), "{error}");
    assert!(error.contains("`fabnet pki renew FOLDER n0`"), "{error}");
    assert!(!fabnet_files::Files::is_folder(&*cluster.disks[0], Path::new("/state")));
    authority.renew("n0", Validity::OF_NODES).unwrap();
    assert!(cluster.open(0).is_ok());
}

#[test]
fn the_days_that_are_left_are_in_the_status() {
    let mut cluster = Cluster::new(2, 100_000, "");
    cluster.secure();
    cluster.start_all();
    let certificate = cluster.status(0).certificate.unwrap();
    assert_eq!((certificate.path.as_str(), certificate.days_left), ("/pki/n0.pem", 90));
    assert_eq!((certificate.expires, certificate.until.as_str()), (1_707_776_000, "2024-02-12T22:13:20Z"));
    cluster.step_until("under way", |cluster| cluster.round(0) > 20);
    cluster.clock.advance(Validity::days(80));
    // The status is up to half a second old.
    cluster.step_for(Duration::from_secs(2));
    assert_eq!(cluster.status(0).certificate.unwrap().days_left, 9);
}

#[test]
fn a_new_connection_is_asked_for_once_and_only_when_the_certificate_has_changed() {
    let mut cluster = Cluster::new(2, 100_000, "");
    let authority = cluster.secure();
    let asked = Arc::new(Asked::default());
    let count = || asked.count.load(Ordering::Relaxed);
    cluster.factories[0] = Arc::new(Replaceable { network: cluster.network.clone(), asked: asked.clone() });
    cluster.start_all();
    cluster.step_for(Duration::from_secs(30));
    assert_eq!(count(), 0, "nothing has changed");
    authority.renew("n0", Validity::days(200)).unwrap();
    cluster.step_for(Duration::from_secs(30));
    assert_eq!((count(), cluster.status(0).certificate.unwrap().days_left), (1, 199));
    // While the transport connects for another reason, it is asked again and again.
    asked.is_busy.store(true, Ordering::Relaxed);
    authority.renew("n0", Validity::days(300)).unwrap();
    cluster.step_for(Duration::from_secs(20));
    let before = count();
    assert!(before > 10, "{before}");
    asked.is_busy.store(false, Ordering::Relaxed);
    cluster.step_for(Duration::from_secs(30));
    assert_eq!(count(), before + 1);
}
