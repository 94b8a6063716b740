//! A few peers that exchange messages in lockstep with the test, on reliable links and disks.

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation, Record, Table};

use super::disk::Disk;
use super::fault::ByFault;
use super::peer_factory::PeerFactory;
use super::scenario::{MethodKind, NetworkKind, Scenario};

/// Peers that all know each other, and what they have sent and stored.
pub(super) struct Exchange {
    pub(super) peers: Vec<Peer<f64>>,
    /// Messages that were sent in the last round, with their receivers.
    pub(super) sent: Vec<(u32, Vec<u8>)>,
    /// The states that were stored, in their order.
    pub(super) states: Vec<Vec<u8>>,
}

/// A scenario without faults, in which everybody sends to everybody.
pub(super) fn calm_scenario(nodes: usize, exact: bool) -> Scenario {
    Scenario {
        nodes,
        exact,
        network: NetworkKind::Complete,
        method: MethodKind::PushPull,
        rates: ByFault::default(),
        ..Scenario::named("calm", 1).unwrap()
    }
}

impl Exchange {
    /// Peers at their start, whose incarnations are stored.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let factory = PeerFactory::new(scenario);
        let incarnation = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
        let nodes = scenario.nodes as u32;
        let roster = Table::of_living(scenario.nodes, (0..nodes).map(|node| (node, incarnation(node))));
        let peer = |node: u32| {
            let mut peer = factory.restore(node, &mut Disk::default(), incarnation(node));
            peer.meet(&roster);
            peer
        };
        let mut exchange = Self { peers: (0..nodes).map(peer).collect(), sent: Vec::new(), states: Vec::new() };
        (0..nodes).for_each(|node| exchange.tell(node, Event::Stored { ticket: 0, safe: true }));
        exchange
    }

    /// Lets every peer make a round, and delivers the messages of which `arrives` says so.
    pub(super) fn round(&mut self, arrives: impl Fn(u32, u32) -> bool) {
        self.sent.clear();
        (0..self.peers.len() as u32).for_each(|node| self.tell(node, Event::Tick));
        for (to, bytes) in self.sent.clone() {
            // The sender stands in the low half of the third word.
            let from = u32::from_le_bytes(bytes[16..20].try_into().unwrap());
            if arrives(from, to) {
                self.tell(to, Event::Message(bytes));
            }
        }
    }

    /// Hands an event to a peer; what it stores is stored at once.
    pub(super) fn tell(&mut self, node: u32, event: Event) {
        let mut effects = Vec::new();
        self.peers[node as usize].handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, bytes } => self.sent.push((to, bytes)),
                Effect::Store { ticket, record } => {
                    if let Record::State(state) = record {
                        self.states.push(state);
                        self.tell(node, Event::Stored { ticket, safe: true });
                    }
                }
            }
        }
    }

    /// All peers, as checks take them.
    pub(super) fn all(&self) -> Vec<&Peer<f64>> {
        self.peers.iter().collect()
    }
}
