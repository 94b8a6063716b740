//! Three peers among messages that arrive in any order, any number of times, and with any words changed: nothing panics, books balance, queues stay short.
#![no_main]

use std::sync::Arc;

use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Gradient;
use fabnet_core::peer::{Command, Effect, Event, Incarnation, Pace, Policy, Schedule, Task, Unit};
use fabnet_core::topology::Complete;
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem};
use fabnet_problems::Quadratic;
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

const NODES: usize = 3;

struct Net {
    peers: Vec<Peer<f64>>,
    sent: Vec<(usize, Vec<u8>)>,
}

impl Net {
    fn new(pace: Pace) -> Self {
        let problem: Arc<dyn Problem<f64>> = Arc::new(Quadratic::new(NODES, 2, 2.0, 1.0, 0));
        let method = PushPull::new(&*problem, Gradient::new(), Steps::same(0.1)).expect("these steps are usable");
        let algorithm: Arc<dyn Algorithm<f64>> = Arc::new(method);
        let task = |node: u32| Task {
            algorithm: algorithm.clone(),
            problem: problem.clone(),
            seed: 0,
            node,
            run: 7,
            unit: Unit::default(),
            schedule: Schedule::Living(Arc::new(|agents| Arc::new(Complete::new(agents)))),
            weights: Arc::new(Uniform),
            policy: Policy::new(pace, NODES),
        };
        let life = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
        let mut net = Self { peers: (0..NODES as u32).map(|node| Peer::new(task(node), life(node), 0, None)).collect(), sent: Vec::new() };
        for node in 0..NODES {
            net.peers[node].meet((0..NODES as u32).map(|other| (other, life(other))));
            net.tell(node, Event::Stored { ticket: 0, safe: true });
        }
        net
    }

    fn tell(&mut self, node: usize, event: Event) {
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        for effect in effects {
            if let Effect::Send { to, bytes } = effect {
                if self.sent.len() < 64 {
                    self.sent.push((to as usize, bytes));
                } else {
                    let place = bytes.len() % 64;
                    self.sent[place] = (to as usize, bytes);
                }
            }
        }
        let peer = &self.peers[node];
        assert!(peer.ledger().audit(), "the books do not balance");
        assert!(peer.unread() <= 16 * NODES);
        assert!(peer.row().iter().all(|scalar| scalar.is_finite()));
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&pace, moves)) = input.split_first() else { return };
    let mut net = Net::new(if pace % 2 == 0 { Pace::Free } else { Pace::Lockstep { deadline: 3 } });
    for one in moves.chunks_exact(4).take(64) {
        let (node, which, place, value) = (usize::from(one[0] / 16) % NODES, usize::from(one[1]), usize::from(one[2]), one[3]);
        let message = if net.sent.is_empty() { None } else { Some(net.sent[which % net.sent.len()].clone()) };
        match (one[0] % 16, message) {
            (0..5, _) => net.tell(node, Event::Tick),
            (5..10, Some((to, bytes))) => net.tell(to, Event::Message(bytes)),
            (10..13, Some((to, mut bytes))) => {
                // A word is changed, and the checksum with it.
                let end = bytes.len() - 8;
                let at = 8 * (place % (end / 8));
                let word: [u8; 8] = if value < 8 { [0xFF; 8] } else { u64::from(value - 8).to_le_bytes() };
                bytes[at..at + 8].copy_from_slice(&word);
                let checksum = XxHash3_64::oneshot(&bytes[..end]);
                bytes[end..].copy_from_slice(&checksum.to_le_bytes());
                net.tell(to, Event::Message(bytes));
            }
            (13, _) => net.tell(node, Event::Suspect(u32::from(value))),
            (14, _) => net.tell(node, Event::Stored { ticket: u64::from(value / 2), safe: value % 2 == 0 }),
            (15, _) => net.tell(node, Event::Command(if value % 2 == 0 { Command::Restart } else { Command::Close(u32::from(value) % NODES as u32) })),
            _ => {}
        }
    }
});
