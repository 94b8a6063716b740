//! Peers that wait with their first round.

use std::collections::VecDeque;

use super::fixtures::{configs, life};
use crate::peer::{Command, Effect, Event, Peer, PeerConfig, Policy, SyncMode};
use crate::topology::Complete;

/// Held peers, and the messages between them that have not arrived yet.
struct Waiting {
    peers: Vec<Peer<f64>>,
    on_the_way: VecDeque<(u32, u32, Vec<u8>)>,
    /// The links over which nothing arrives, from one node to another.
    broken: Vec<(u32, u32)>,
}

impl Waiting {
    fn new(sync: SyncMode) -> Self {
        let held = |mut config: PeerConfig<f64>| {
            config.policy = Policy { held: true, rounds: 50, ..Policy::new(sync, 3) };
            Peer::new(config.clone(), life(config.node), 0, None)
        };
        let peers = configs(3, false, Complete::new).into_iter().map(held).collect();
        Self { peers, on_the_way: VecDeque::new(), broken: Vec::new() }
    }

    fn tell(&mut self, node: usize, event: Event) {
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        for effect in effects {
            if let Effect::Send { to, bytes } = effect {
                self.on_the_way.push_back((node as u32, to, bytes));
            }
        }
    }

    /// One tick of each of these nodes; what is sent to the others is lost.
    fn tick(&mut self, nodes: &[usize]) {
        for &node in nodes {
            self.tell(node, Event::Tick);
        }
        while let Some((from, to, bytes)) = self.on_the_way.pop_front() {
            let contents = self.peers[0].format.read::<f64>(&bytes).unwrap().header.contents;
            let begun = self.peers.iter().any(Peer::has_begun);
            assert!(begun || !(contents.pulled || contents.mass), "scalars or mass before anybody has begun");
            if nodes.contains(&(to as usize)) && !self.broken.contains(&(from, to)) {
                self.tell(to as usize, Event::Message(bytes));
            }
        }
    }

    fn rounds(&self) -> Vec<u64> {
        self.peers.iter().map(Peer::round).collect()
    }
}

/// Rounds follow ticks in free-running peers, and messages in lockstep.
fn held_until_told(sync: SyncMode) {
    let mut waiting = Waiting::new(sync);
    (0..2).for_each(|node| waiting.tell(node, Event::Stored { ticket: 0, safe: true }));
    (0..5).for_each(|_| waiting.tick(&[0, 1]));
    assert_eq!(waiting.rounds(), [0; 3]);
    assert_eq!((waiting.peers[0].heard_in(1), waiting.peers[0].heard_in(2)), (Some(0), None));
    waiting.tell(2, Event::Stored { ticket: 0, safe: true });
    (0..20).for_each(|_| waiting.tick(&[0, 1, 2]));
    assert_eq!(waiting.rounds(), [0; 3], "nobody has told them");
    assert_eq!(waiting.peers[0].heard_in(2), Some(0));

    waiting.tell(1, Event::Command(Command::Begin));
    (0..10).for_each(|_| waiting.tick(&[0, 1, 2]));
    assert!(waiting.rounds().iter().all(|round| *round > 5), "{:?}: the others follow", waiting.rounds());
    assert!(waiting.peers.iter().all(|peer| peer.ledger().audit()));
}

#[test]
fn held_peers_exchange_signs_of_life_only_and_begin_together() {
    held_until_told(SyncMode::Free);
    held_until_told(SyncMode::Lockstep { deadline: u64::MAX });
}

/// A first message that is lost would be made up for by a later one, in a round that depends on
/// chance: the same run would have other bits the next time.
#[test]
fn in_lockstep_nobody_begins_before_the_others_have_heard_it() {
    let points = |broken: &[(u32, u32)]| {
        let mut waiting = Waiting::new(SyncMode::Lockstep { deadline: 1_000 });
        waiting.broken = broken.to_vec();
        (0..3).for_each(|node| waiting.tell(node, Event::Stored { ticket: 0, safe: true }));
        (0..5).for_each(|_| waiting.tick(&[0, 1, 2]));
        assert!((1..3).all(|node| waiting.peers[0].heard_in(node) == Some(0)), "who is told to begin hears all");
        waiting.tell(0, Event::Command(Command::Begin));
        (0..20).for_each(|_| waiting.tick(&[0, 1, 2]));
        waiting.broken.clear();
        (0..80).for_each(|_| waiting.tick(&[0, 1, 2]));
        assert_eq!(waiting.rounds(), [50; 3]);
        waiting.peers.iter().map(Peer::checkpoint).collect::<Vec<_>>()
    };
    let undisturbed = points(&[]);
    for broken in [(0, 1), (0, 2), (1, 2), (2, 1)] {
        assert_eq!(points(&[broken]), undisturbed, "the link from one to the other of {broken:?} comes late");
    }
}

#[test]
fn a_farewell_is_told_from_a_death() {
    let mut waiting = Waiting::new(SyncMode::Free);
    (0..3).for_each(|node| waiting.tell(node, Event::Stored { ticket: 0, safe: true }));
    (0..10).for_each(|_| waiting.tick(&[0, 1, 2]));
    waiting.tell(0, Event::Suspect(2));
    waiting.tell(1, Event::Command(Command::Leave));
    waiting.tick(&[0]);
    let dead = |node: u32| waiting.peers[0].table().living(node).is_none();
    assert!(dead(1) && dead(2));
    assert_eq!((waiting.peers[0].has_left(1), waiting.peers[0].has_left(2)), (true, false));
}
