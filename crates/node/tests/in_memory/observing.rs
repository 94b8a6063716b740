//! What a node notices of others that are silent, and says of itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabnet_net::{
    Config, Inbox, LinkFaults, MemoryNetwork, OpenError, OpenedTransport, Reconnect, Transport, TransportFactory,
};

use crate::cluster::Cluster;

/// Connects to a network in memory by connections that can go dead in one direction.
struct DeafConnection {
    network: MemoryNetwork,
    deaf: Arc<AtomicBool>,
    asked: Arc<AskedFor>,
}

/// What the node has asked for.
#[derive(Default)]
struct AskedFor {
    addresses: Mutex<Vec<Vec<String>>>,
    reconnections: AtomicU64,
}

impl Reconnect for AskedFor {
    fn reconnect(&self, addresses: Vec<String>) {
        self.addresses.lock().unwrap().push(addresses);
    }

    fn reopen(&self) -> bool {
        unreachable!("no certificate changes here")
    }

    fn reconnections(&self) -> u64 {
        self.reconnections.load(Ordering::Relaxed)
    }
}

/// Loses everything that is sent while it is deaf.
struct DeafTransport(Arc<dyn Transport>, Arc<AtomicBool>);

impl Transport for DeafTransport {
    fn send(&self, from: u32, to: u32, bytes: Vec<u8>) {
        if !self.1.load(Ordering::Relaxed) {
            self.0.send(from, to, bytes);
        }
    }
    fn greet(&self, node: &str, greeting: &fabnet_net::Greeting) {
        self.0.greet(node, greeting);
    }
    fn reaches(&self, address: &str) -> bool {
        self.0.reaches(address)
    }
    fn close(&self) {
        self.0.close();
    }
}

impl TransportFactory for DeafConnection {
    fn open(&self, config: &Config, inbox: &Arc<Inbox>) -> Result<OpenedTransport, OpenError> {
        let OpenedTransport { transport, .. } = self.network.open(config, inbox)?;
        let transport = Arc::new(DeafTransport(transport, self.deaf.clone()));
        Ok(OpenedTransport { transport, reconnect: Some(self.asked.clone()) })
    }
}

#[test]
fn a_neighbour_that_falls_silent_makes_the_transport_connect_again() {
    let mut cluster = Cluster::new(2, 100_000, "");
    let (deaf, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AskedFor::default()));
    let factory = |asked| DeafConnection { network: cluster.network.clone(), deaf: deaf.clone(), asked };
    // Node 0 is watched; what node 1 sends gets lost later.
    let watched = DeafConnection { deaf: Arc::default(), ..factory(asked.clone()) };
    let silent = factory(Arc::default());
    cluster.factories = vec![Arc::new(watched), Arc::new(silent)];
    cluster.start_all();
    cluster.step_until("under way", |cluster| cluster.round(0) > 50);
    cluster.step_for(Duration::from_secs(15));
    let addresses = || asked.addresses.lock().unwrap().clone();
    assert!(addresses().is_empty(), "whoever is heard is not complained of");
    deaf.store(true, Ordering::Relaxed);
    cluster.step_for(Duration::from_secs(5));
    assert!(addresses().is_empty(), "five seconds of silence are none");
    cluster.step_for(Duration::from_millis(5800));
    assert_eq!(addresses().first(), Some(&vec!["n1.example:7000".to_owned()]));
    asked.reconnections.store(1, Ordering::Relaxed);
    cluster.step_for(Duration::from_secs(1));
    assert_eq!(cluster.status(0).renewals, 1);
}

#[test]
fn a_status_says_where_the_node_is_and_for_how_long() {
    let mut cluster = Cluster::new(2, 100_000, "");
    cluster.configs[0].checkpoint = Duration::from_secs(60);
    cluster.start_all();
    assert_eq!((cluster.status(0).seconds, cluster.status(0).ready), (0.0, false));
    cluster.step_for(Duration::from_secs(20));
    let status = cluster.status(0);
    assert_eq!((status.run.as_str(), status.node.as_str()), ("today", "n0"));
    assert!(status.ready && status.begun && !status.done && status.absent.is_empty());
    assert!((19.4..=20.0).contains(&status.seconds), "{}", status.seconds);
    let agent = &status.agents[0];
    assert!((1900..2000).contains(&agent.round), "{}", agent.round);
    assert_eq!((agent.members, agent.mass_residual), (2, 0));
    // The first checkpoint is of round 10.
    assert!(agent.checkpoint_age.is_some_and(|age| (19.0..20.0).contains(&age)), "{:?}", agent.checkpoint_age);
    let digest = cluster.configs[0].run_digest(&cluster.plan().text_of_digest(), false);
    assert_eq!(status.manifest, digest.to_string());
}

#[test]
fn agents_of_one_process_exchange_messages_without_a_network() {
    let nothing_arrives = LinkFaults { loss: 1.0, ..LinkFaults::default() };
    let mut cluster = Cluster::with_faults(2, 300, "", nothing_arrives);
    cluster.configs.truncate(1);
    let all = cluster.configs[0].members.drain(1..).flat_map(|member| member.agents).collect::<Vec<_>>();
    cluster.configs[0].members[0].agents.extend(all);
    cluster.start(0);
    cluster.run_to_end();
    assert_eq!(cluster.ends[0], Some(Ok(fabnet_net::EndReason::Done)));
    let agents = cluster.status(0).agents;
    assert_eq!(agents.iter().map(|agent| (agent.agent, agent.round)).collect::<Vec<_>>(), [(0, 300), (1, 300)]);
}
