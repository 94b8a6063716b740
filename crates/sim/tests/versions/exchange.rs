//! An exchange between three peers of an earlier version of the program, in which the present one
//! takes the place of each.
//!
//! `FABNET_WRITE_SAMPLES=1` records one, if there is none yet: with the sources of the version that
//! is to be recorded.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, SyncMode, Table};

use crate::bowls::{NODES, config, life};
use crate::{folder, present_version};

const ROUNDS: u64 = 60;

/// What a peer was sent, in its order, and where it was in the end.
struct Recorded {
    received: Vec<Vec<u8>>,
    row: Vec<u8>,
}

/// A peer in lockstep. What it computes follows from messages alone.
fn peer(node: u32) -> Peer<f64> {
    let mut task = config(node, SyncMode::Lockstep { deadline: u64::MAX });
    task.policy.rounds = ROUNDS;
    task.policy.exact = false;
    let mut peer = Peer::new(task, life(node), 0, None);
    peer.meet(&Table::of_living(NODES, (0..NODES as u32).map(|node| (node, life(node)))));
    peer
}

fn bytes(row: &[f64]) -> Vec<u8> {
    row.iter().flat_map(|scalar| scalar.to_le_bytes()).collect()
}

/// Lets three peers exchange messages until their rounds are done.
fn record() -> Vec<Recorded> {
    let mut peers: Vec<Peer<f64>> = (0..NODES as u32).map(peer).collect();
    let mut received = vec![Vec::new(); NODES];
    let mut events: VecDeque<(u32, Event)> =
        (0..NODES as u32).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
    while let Some((node, event)) = events.pop_front() {
        if let Event::Message(bytes) = &event {
            received[node as usize].push(bytes.clone());
        }
        let mut effects = Vec::new();
        peers[node as usize].handle(event, &mut effects);
        events.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Send { to, bytes } => Some((to, Event::Message(bytes))),
            Effect::Store { .. } => None,
        }));
    }
    assert!(peers.iter().all(|peer| peer.round() == ROUNDS));
    let rows = peers.iter().map(|peer| bytes(peer.row()));
    received.into_iter().zip(rows).map(|(received, row)| Recorded { received, row }).collect()
}

fn path(node: u32, what: &str) -> PathBuf {
    folder(present_version()).join("exchange").join(format!("{node}.{what}"))
}

fn write(node: u32, recorded: &Recorded) {
    let framed = recorded
        .received
        .iter()
        .flat_map(|message| [(message.len() as u32).to_le_bytes().to_vec(), message.clone()].concat());
    fs::create_dir_all(path(node, "received").parent().unwrap()).unwrap();
    fs::write(path(node, "received"), framed.collect::<Vec<u8>>()).unwrap();
    fs::write(path(node, "row"), &recorded.row).unwrap();
}

fn read(node: u32) -> Recorded {
    let bytes = fs::read(path(node, "received")).unwrap();
    let (mut rest, mut received) = (&bytes[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        received.push(message.to_vec());
        rest = after;
    }
    Recorded { received, row: fs::read(path(node, "row")).unwrap() }
}

#[test]
fn a_peer_of_this_version_takes_the_place_of_an_earlier_one() {
    if std::env::var_os("FABNET_WRITE_SAMPLES").is_some() && !path(0, "row").exists() {
        (0..).zip(record()).for_each(|(node, recorded)| write(node, &recorded));
    }
    for node in 0..NODES as u32 {
        let Recorded { received, row } = read(node);
        let mut peer = peer(node);
        let mut effects = Vec::new();
        peer.handle(Event::Stored { ticket: 0, safe: true }, &mut effects);
        for message in received {
            peer.handle(Event::Message(message), &mut effects);
        }
        assert_eq!(peer.counters().malformed, 0, "node {node}");
        assert_eq!(peer.round(), ROUNDS, "node {node}");
        assert_eq!(bytes(peer.row()), row, "node {node}");
        assert!(peer.ledger().audit(), "node {node}");
    }
}
