//! Three peers receive messages in any order, any number of times and with any words changed:
//! nothing panics, ledgers balance, queues stay short and rows finite.
#![no_main]

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Gradient;
use fabnet_core::peer::{
    Command, Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Table, Unit, WordLength,
};
use fabnet_core::topology::Complete;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem};
use fabnet_problems::Quadratic;
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

const NODES: usize = 3;
/// Messages that are kept to be delivered, as often as the input says.
const KEPT: usize = 64;
/// Actions that are taken of one input.
const ACTIONS: usize = 64;

// The first byte of an input chooses the pace, each four bytes after it are an action.
fuzz_target!(|input: &[u8]| {
    let Some((&pace, actions)) = input.split_first() else { return };
    let mut cluster = Cluster::new(if pace % 2 == 0 { SyncMode::Free } else { SyncMode::Lockstep { deadline: 3 } });
    for &action in actions.as_chunks().0.iter().take(ACTIONS) {
        cluster.act(action);
    }
});

/// The peers, and messages that they have sent.
struct Cluster {
    peers: Vec<Peer<f64>>,
    sent: Vec<(usize, Vec<u8>)>,
}

impl Cluster {
    /// Peers that know each other and whose incarnations are stored.
    fn new(pace: SyncMode) -> Self {
        let problem: Arc<dyn Problem<f64>> = Arc::new(Quadratic::new(NODES, 4, 2.0, 1.0, 0));
        let method = PushPull::new(&*problem, Gradient::new(), Steps::same(0.1)).expect("these step sizes are usable");
        let algorithm: Arc<dyn Algorithm<f64>> = Arc::new(method);
        let task = |node: u32| PeerConfig {
            algorithm: algorithm.clone(),
            problem: problem.clone(),
            seed: 0,
            node,
            run: 7,
            unit: Unit::default(),
            words: WordLength::Bits8,
            schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Complete::new(agents)))),
            weights: Arc::new(Uniform),
            policy: Policy::new(pace, NODES),
        };
        let incarnation = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
        let peers = (0..NODES as u32).map(|node| Peer::new(task(node), incarnation(node), 0, None)).collect();
        let mut cluster = Self { peers, sent: Vec::new() };
        let roster = Table::of_living(NODES, (0..NODES as u32).map(|node| (node, incarnation(node))));
        for node in 0..NODES {
            cluster.peers[node].meet(&roster);
            cluster.tell(node, Event::Stored { ticket: 0, safe: true });
        }
        cluster
    }

    /// Carries out an action: its kind and its node share a byte, then come the message that it is
    /// about, the word to change, and a value.
    fn act(&mut self, [kind, which, place, value]: [u8; 4]) {
        let node = usize::from(kind / 16) % NODES;
        let message = (!self.sent.is_empty()).then(|| self.sent[usize::from(which) % self.sent.len()].clone());
        match (kind % 16, message) {
            (0..5, _) => self.tell(node, Event::Tick),
            (5..10, Some((to, bytes))) => self.tell(to, Event::Message(bytes)),
            (10..13, Some((to, bytes))) => self.tell(to, Event::Message(changed(bytes, place.into(), value))),
            (13, _) => self.tell(node, Event::Suspect(value.into())),
            (14, _) => self.tell(node, Event::Stored { ticket: u64::from(value / 2), safe: value % 2 == 0 }),
            (15, _) if value % 2 == 0 => self.tell(node, Event::Command(Command::Restart)),
            (15, _) => self.tell(node, Event::Command(Command::Close(u32::from(value) % NODES as u32))),
            _ => {}
        }
    }

    /// Hands an event to a peer, keeps what it sends, and checks it.
    fn tell(&mut self, node: usize, event: Event) {
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        for effect in effects {
            if let Effect::Send { to, bytes } = effect {
                self.keep(to as usize, bytes);
            }
        }
        let peer = &self.peers[node];
        assert!(peer.ledger().audit(), "the ledger does not balance");
        assert!(peer.unread() <= 16 * NODES);
        assert!(peer.row().iter().all(|scalar| scalar.is_finite()));
    }

    fn keep(&mut self, to: usize, bytes: Vec<u8>) {
        if self.sent.len() < KEPT {
            self.sent.push((to, bytes));
        } else {
            // Any place that depends on the input alone, so that a crash can be repeated.
            let place = bytes.len() % KEPT;
            self.sent[place] = (to, bytes);
        }
    }
}

/// A message in which one word is another number, with the checksum that belongs to it.
fn changed(mut bytes: Vec<u8>, place: usize, value: u8) -> Vec<u8> {
    let end = bytes.len() - 8;
    let at = 8 * (place % (end / 8));
    // The largest number is the most likely one to overflow.
    let word: [u8; 8] = if value < 8 { [0xFF; 8] } else { u64::from(value - 8).to_le_bytes() };
    bytes[at..at + 8].copy_from_slice(&word);
    let checksum = XxHash3_64::oneshot(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}
