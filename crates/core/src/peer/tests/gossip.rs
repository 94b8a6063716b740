//! How a change of membership reaches all peers.

use super::fixtures::{configs, life};
use crate::peer::membership::STATES_PER_MESSAGE;
use crate::peer::{Effect, Event, Peer, Table};
use crate::topology::Ring;

/// News reaches everybody although the table is too long for a message, and messages stay short.
#[test]
fn news_gets_round_among_more_nodes_than_a_message_can_name() {
    let nodes = 2 * STATES_PER_MESSAGE;
    let lives = || (0..nodes as u32).map(|node| (node, life(node)));
    let mut peers: Vec<Peer<f64>> = configs(nodes, false, Ring::new)
        .into_iter()
        .zip(lives())
        .map(|(config, (_, life))| Peer::new(config, life, 0, None))
        .collect();
    let (roster, mut effects) = (Table::of_living(nodes, lives()), Vec::new());
    for peer in &mut peers {
        peer.meet(&roster);
        peer.handle(Event::Stored { ticket: 0, safe: true }, &mut effects);
    }
    let gone = nodes - 3;
    peers[0].handle(Event::Suspect(gone as u32), &mut effects);
    let knows = |peer: &Peer<f64>| peer.table().living(gone as u32).is_none();
    for _ in 0..60 {
        for effect in std::mem::take(&mut effects) {
            let Effect::Send { to, bytes } = effect else { continue };
            assert!(bytes.len() < 8_000, "a message of {} bytes", bytes.len());
            if to as usize != gone {
                peers[to as usize].handle(Event::Message(bytes), &mut effects);
            }
        }
        let running = peers.iter_mut().enumerate().filter(|(node, _)| *node != gone);
        running.for_each(|(_, peer)| peer.handle(Event::Tick, &mut effects));
    }
    assert_eq!(peers.iter().filter(|peer| knows(peer)).count(), nodes - 1);
}
