//! What peers send is pinned to the last byte: a change of the format needs a new version of it,
//! and a change of what they say is to be seen.

use std::collections::VecDeque;
use std::sync::Arc;

use fabnet_core::algorithm::Steps;
use fabnet_core::peer::{Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Unit, WordLength};
use fabnet_core::topology::Phases;
use fabnet_core::weights::Uniform;
use fabnet_core::{Peer, Problem, Scalar};
use fabnet_problems::PolicyEvaluation;

use crate::common::build;

/// FNV-1a, so that the pin depends on nothing but the bytes.
fn fold(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Everything that four peers send in 400 ticks, as one number. Every seventh message is lost, and
/// peer 3 is silent from tick 150 to 300, so that requests, acknowledgements, news and closed edges
/// occur as well.
fn exchange<T: Scalar>(method: &str) -> u64 {
    let problem: Arc<dyn Problem<T>> = Arc::new(PolicyEvaluation::new(4, 0));
    let algorithm = build(method, &*problem, Steps::same(0.005));
    let policy = Policy { evict_after: 40, ..Policy::new(SyncMode::Free, 4) };
    let config = |node: u32| PeerConfig {
        algorithm: algorithm.clone(),
        problem: problem.clone(),
        seed: 0,
        node,
        run: 7,
        unit: Unit::default(),
        words: WordLength::default(),
        schedule: NeighbourSource::Living(Arc::new(|agents| Arc::new(Phases::new(agents, 0.3, 0)))),
        weights: Arc::new(Uniform),
        policy,
    };
    let life = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
    let mut peers: Vec<Peer<T>> = (0..4).map(|node| Peer::new(config(node), life(node), 0, None)).collect();
    let mut events: VecDeque<(usize, Event)> =
        (0..4).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
    let (mut hash, mut sent) = (0xcbf2_9ce4_8422_2325, 0);
    for tick in 0..400 {
        let silent = |node: usize| node == 3 && (150..300).contains(&tick);
        events.extend((0..4).filter(|&node| !silent(node)).map(|node| (node, Event::Tick)));
        while let Some((node, event)) = events.pop_front() {
            let mut effects = Vec::new();
            peers[node].handle(event, &mut effects);
            for effect in effects {
                match effect {
                    Effect::Send { to, bytes } => {
                        hash = fold(hash, &bytes);
                        sent += 1;
                        if sent % 7 != 0 && !silent(to as usize) {
                            events.push_back((to as usize, Event::Message(bytes)));
                        }
                    }
                    Effect::Store { ticket, .. } => events.push_back((node, Event::Stored { ticket, safe: true })),
                }
            }
        }
    }
    assert!(sent > 1000, "{method}: only {sent} messages");
    hash
}

#[test]
fn an_exchange_has_the_bytes_of_its_version() {
    let found = [
        ("fab f64", exchange::<f64>("fab")),
        ("fab f32", exchange::<f32>("fab")),
        ("push-sum-fab f64", exchange::<f64>("push-sum-fab")),
    ];
    let pinned = [
        ("fab f64", 11_275_706_748_111_218_427),
        ("fab f32", 10_028_972_776_665_627_505),
        ("push-sum-fab f64", 8_422_634_455_273_807_682),
    ];
    assert_eq!(found, pinned, "other bytes are sent than before: if the format has changed, give it a new version");
}
