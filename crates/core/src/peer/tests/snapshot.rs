//! Peers that go on in the same life after a crash.

use std::collections::VecDeque;

use super::fixtures::{configs, life};
use crate::peer::{Effect, Event, Peer, PeerConfig, Record};
use crate::topology::Complete;

/// Two peers that write their state before they send, and the last state of the first.
fn exact_peers() -> (Vec<Peer<f64>>, PeerConfig<f64>, Vec<u8>) {
    let configs = configs(2, true, Complete::new);
    let mut peers: Vec<Peer<f64>> =
        configs.iter().map(|config| Peer::new(config.clone(), life(config.node), 0, None)).collect();
    let mut events: VecDeque<(usize, Event)> =
        (0..2).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
    let mut state = Vec::new();
    for round in 0..200 {
        events.push_back((round % 2, Event::Tick));
        while let Some((node, event)) = events.pop_front() {
            let (mut effects, stored) = (Vec::new(), matches!(event, Event::Stored { .. }));
            peers[node].handle(event, &mut effects);
            for effect in effects {
                match effect {
                    Effect::Send { to, bytes } => {
                        assert!(stored, "a message leaves before what it depends on is safe");
                        events.push_back((to as usize, Event::Message(bytes)));
                    }
                    Effect::Store { ticket, record } => {
                        if let (0, Record::State(bytes)) = (node, record) {
                            state = bytes;
                        }
                        events.push_back((node, Event::Stored { ticket, safe: true }));
                    }
                }
            }
        }
    }
    (peers, configs[0].clone(), state)
}

#[test]
fn a_saved_peer_goes_on_in_the_same_life_or_not_at_all() {
    let (peers, config, state) = exact_peers();
    assert!(peers[0].ledger().sent(1).is_some() && peers[0].ledger().received(1).is_some(), "they have exchanged mass");
    let resumed = Peer::resume(config.clone(), &state).unwrap();
    assert_eq!(resumed.ledger(), peers[0].ledger());
    assert_eq!((resumed.row(), resumed.keep(), resumed.input()), (peers[0].row(), peers[0].keep(), peers[0].input()));
    assert_eq!(
        (resumed.incarnation(), resumed.epoch(), resumed.round()),
        (peers[0].incarnation(), peers[0].epoch(), peers[0].round())
    );
    assert_eq!(resumed.table(), peers[0].table());
    for length in 0..state.len() {
        assert!(Peer::resume(config.clone(), &state[..length]).is_err(), "cut off after {length} bytes");
    }
    for bit in 0..8 * state.len() {
        let mut rotten = state.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        assert!(Peer::resume(config.clone(), &rotten).is_err(), "bit {bit} has changed");
    }
    assert!(Peer::resume(PeerConfig { run: 8, ..config }, &state).is_err(), "another run");
}
