//! Two nodes that are connected by each kind of transport.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use fabnet_net::{
    Authority, Clock, Config, Inbox, Input, Limits, LinkFaults, LossyTransport, ManualClock, Member, MemoryNetwork,
    NodeIdentity, SystemClock, Tls, Transport, TransportFactory, Validity, ZenohFactory,
};

/// The fraction of messages that lossy transports lose here.
pub(crate) const LOSS: f64 = 0.3;

/// The transports of two nodes, `alpha` with agent 0 and `beta` with agent 1.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    /// The settings of the first node.
    pub(crate) config: Config,
    pub(crate) ends: [End; 2],
    /// Whether messages may be lost or doubled.
    pub(crate) loses: bool,
    /// The counter of messages that the first node has lost on purpose.
    pub(crate) dropped: Option<Arc<AtomicU64>>,
    /// The network and its clock, where these do not move by themselves.
    memory: Option<(MemoryNetwork, Arc<ManualClock>)>,
    _certificates: Option<tempfile::TempDir>,
}

/// One node: its transport, and what arrives.
pub(crate) struct End {
    pub(crate) transport: Arc<dyn Transport>,
    _inbox: Arc<Inbox>,
    inputs: Receiver<Input>,
}

impl End {
    fn open(factory: &dyn TransportFactory, config: &Config, clock: Arc<dyn Clock>) -> Self {
        let limits = Limits { waiting: usize::MAX, messages: u64::MAX, bytes: u64::MAX };
        let (inbox, inputs) = Inbox::new(limits, 1 << 20, Arc::default(), clock);
        let transport = factory.open(config, &inbox).unwrap().transport;
        Self { transport, _inbox: inbox, inputs }
    }

    /// Everything that has arrived since the last call.
    pub(crate) fn arrived(&self) -> Vec<Input> {
        self.inputs.try_iter().collect()
    }
}

impl Pair {
    /// Lets time pass, for the network too.
    pub(crate) fn let_pass(&self, time: Duration) {
        let Some((network, clock)) = &self.memory else { return std::thread::sleep(time) };
        clock.advance(time);
        network.deliver();
    }

    /// Lets time pass until something holds.
    pub(crate) fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(30), "{}: not {what}", self.name);
            self.let_pass(Duration::from_millis(20));
        }
    }
}

/// Every kind of transport, each with two nodes that are not connected yet.
pub(crate) fn every_pair() -> impl Iterator<Item = Pair> {
    let faults = LinkFaults { seed: 3, loss: LOSS, duplication: 0.1, delay: Duration::from_millis(30) };
    let pairs: [fn(LinkFaults) -> Pair; 5] = [
        |_| memory("in memory", LinkFaults::default()),
        |faults| memory("in memory, with faults", faults),
        |_| lossy(),
        |_| zenoh("Zenoh over TCP", None),
        |_| zenoh("Zenoh over TLS", Some(tempfile::tempdir().unwrap())),
    ];
    pairs.into_iter().map(move |pair| pair(faults))
}

fn memory(name: &'static str, faults: LinkFaults) -> Pair {
    let clock = Arc::new(ManualClock::default());
    let network = MemoryNetwork::new(clock.clone(), faults);
    let configs = configs();
    let ends = configs.each_ref().map(|config| End::open(&network, config, clock.clone()));
    let [config, _] = configs;
    let loses = faults != LinkFaults::default();
    Pair { name, config, ends, loses, dropped: None, memory: Some((network, clock)), _certificates: None }
}

/// A transport in memory whose first end loses messages on purpose.
fn lossy() -> Pair {
    let mut pair = memory("lossy, in memory", LinkFaults::default());
    let dropped = Arc::new(AtomicU64::new(0));
    let inner = pair.ends[0].transport.clone();
    pair.ends[0].transport = Arc::new(LossyTransport::new(inner, LOSS, 5, dropped.clone()));
    Pair { loses: true, dropped: Some(dropped), ..pair }
}

fn zenoh(name: &'static str, certificates: Option<tempfile::TempDir>) -> Pair {
    let mut configs = configs();
    if let Some(folder) = &certificates {
        secure(&mut configs, folder.path());
    }
    let ends = configs.each_ref().map(|config| End::open(&ZenohFactory, config, Arc::new(SystemClock::default())));
    let [config, _] = configs;
    Pair { name, config, ends, loses: false, dropped: None, memory: None, _certificates: certificates }
}

/// The settings of both nodes, on free ports of this machine.
fn configs() -> [Config; 2] {
    let listeners = [0, 1].map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    let addresses = listeners.map(|listener| listener.local_addr().unwrap().to_string());
    let names = ["alpha", "beta"];
    let member = |place: usize| Member {
        name: names[place].into(),
        agents: vec![place as u32],
        address: addresses[place].clone(),
        http: None,
    };
    names.map(|name| Config { insecure: true, ..Config::new("today", name, vec![member(0), member(1)]) })
}

fn secure(configs: &mut [Config; 2], folder: &Path) {
    let folder = folder.join("pki");
    let authority = Authority::create(&folder, Validity::OF_AUTHORITIES).unwrap();
    for config in configs {
        let node = NodeIdentity::new(&config.node, vec!["127.0.0.1".into()]).unwrap();
        let (certificate, key) = authority.issue(&node, Validity::OF_NODES).unwrap();
        config.tls = Some(Tls { ca: folder.join("ca.pem"), certificate: certificate.path().to_owned(), key });
        config.insecure = false;
    }
}
