//! Rules of the protocol that concern several parts of a peer, each on the smallest network.

use std::cell::Cell;
use std::collections::VecDeque;

use super::fixtures::{configs, life};
use crate::Topology;
use crate::peer::{
    Command, Contents, Effect, Event, Header, Intent, Notice, Peer, PeerConfig, Policy, SyncMode, Table,
};
use crate::rng::{Purpose, Stream};
use crate::topology::{Complete, OnePeerExponential, Ring};

/// Peers whose records are safe at once, and the messages between them.
struct Network {
    peers: Vec<Peer<f64>>,
    in_flight: VecDeque<(u32, Vec<u8>)>,
    /// The headers of all messages that were sent.
    sent: Vec<Header>,
}

impl Network {
    /// Free-running peers that never count each other as dead by themselves.
    fn new<S: Topology + 'static>(nodes: usize, topology: fn(usize) -> S) -> Self {
        Self::patient(nodes, topology, 1_000_000)
    }

    /// Free-running peers that count each other as dead after this number of ticks of silence.
    fn patient<S: Topology + 'static>(nodes: usize, topology: fn(usize) -> S, evict_after: u64) -> Self {
        let policy = Policy { evict_after, ..Policy::new(SyncMode::Free, nodes) };
        let peer = |config: PeerConfig<f64>| {
            let life = life(config.node);
            Peer::new(PeerConfig { policy, ..config }, life, 0, None)
        };
        let peers = configs(nodes, false, topology).into_iter().map(peer).collect();
        let mut network = Self { peers, in_flight: VecDeque::new(), sent: Vec::new() };
        let roster = Table::of_living(nodes, (0..nodes as u32).map(|node| (node, life(node))));
        for node in 0..nodes {
            network.peers[node].meet(&roster);
            network.tell(node, Event::Stored { ticket: 0, safe: true });
        }
        network
    }

    fn tell(&mut self, node: usize, event: Event) {
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, bytes } => {
                    self.sent.push(self.peers[node].format.read::<f64>(&bytes).unwrap().header);
                    self.in_flight.push_back((to, bytes));
                }
                Effect::Store { ticket, .. } => self.tell(node, Event::Stored { ticket, safe: true }),
            }
        }
    }

    /// Some ticks, with the messages that these links carry.
    fn run(&mut self, ticks: usize, carries: impl Fn(u32, u32) -> bool) {
        for _ in 0..ticks {
            (0..self.peers.len()).for_each(|node| self.tell(node, Event::Tick));
            while let Some((to, bytes)) = self.in_flight.pop_front() {
                let from = self.peers[0].format.read::<f64>(&bytes).unwrap().header.from;
                if carries(from, to) {
                    self.tell(to as usize, Event::Message(bytes));
                }
            }
            assert!(self.peers.iter().all(|peer| peer.ledger().audit()));
        }
    }
}

#[test]
fn an_edge_that_does_not_answer_is_closed_and_opens_again_in_the_next_generation() {
    let mut network = Network::new(2, Complete::new);
    network.run(20, |_, _| true);
    assert!(network.peers[0].ledger().sent(1).is_some());
    let patience = network.peers[0].config.policy.close_after as usize;
    network.run(patience + 2, |from, _| from == 1);
    assert!(network.peers[0].generation(1) == 0, "who hears nothing does not acknowledge, but who is heard does");
    network.run(patience + 2, |_, _| false);
    assert!(network.peers[0].generation(1) >= 1 && network.peers[0].ledger().sent(1).is_none());
    assert_eq!(network.peers[0].ledger().mass().len(), 3);
    let generation = network.peers[0].generation(1);
    network.run(20, |_, _| true);
    assert!(network.peers[0].ledger().sent(1).is_some(), "the edge is open again");
    assert_eq!((network.peers[0].generation(1), network.peers[1].its_generation(0)), (generation, generation));
}

/// While a member is away the others have other neighbours. When it is back, what went over those
/// edges waits for acknowledgements that nothing but gossip and repeated messages bring.
#[test]
fn edges_that_are_not_used_any_more_stay_open_although_a_third_of_all_messages_is_lost() {
    const AWAY: u32 = 23;
    let mut network = Network::new(24, OnePeerExponential::new);
    let (sent, mut closed) = (Cell::new(0), 0);
    let is_kept = || {
        sent.set(sent.get() + 1);
        Stream::new(1, 0, sent.get(), Purpose::Faults).open01() > 0.3
    };
    network.run(50, |_, _| is_kept());
    for _ in 0..4 {
        network.tell(0, Event::Suspect(AWAY));
        network.run(100, |from, to| from != AWAY && to != AWAY && is_kept());
        network.run(600, |_, _| is_kept());
        let notices = network.peers.iter_mut().flat_map(|peer| peer.take_notices().collect::<Vec<_>>());
        closed += notices.filter(|(_, notice)| matches!(notice, Notice::Closure { to } if *to != AWAY)).count();
    }
    assert!(network.peers[0].table().living(AWAY).is_some_and(|life| life.counter > 4), "it came back each time");
    assert_eq!(closed, 0);
}

/// An edge whose acknowledgements are late counts as broken, and its share goes to somebody else:
/// on the way back gossip alone takes longer than that where there are many members.
#[test]
fn acknowledgements_come_back_in_time_although_a_third_of_all_messages_is_lost() {
    const NODES: usize = 32;
    let mut network = Network::new(NODES, OnePeerExponential::new);
    let sent = Cell::new(0);
    let is_kept = || {
        sent.set(sent.get() + 1);
        Stream::new(1, 0, sent.get(), Purpose::Faults).open01() > 0.3
    };
    let (mut late, mut all) = (0, 0);
    for round in 0..1400 {
        if round < 1000 && round % 40 == 0 {
            let away = (round / 40 * 7) % NODES;
            network.tell((away + 11) % NODES, Event::Suspect(away as u32));
        }
        network.run(1, |_, _| is_kept());
        for peer in &network.peers {
            let targets = [1, 2, 4, 8, 16].map(|hop| (peer.config.node + hop) % NODES as u32);
            late += targets.iter().filter(|&&target| !peer.carries_mass(target)).count();
            all += targets.len();
        }
    }
    assert!(100 * late < all, "{late} of {all}");
    let errors = network.peers.iter().map(|peer| (peer.row()[0] - 15.5).abs());
    assert!(errors.fold(0.0, f64::max) < 1e-10);
}

#[test]
fn signs_of_life_reach_those_who_are_never_called() {
    const PATIENCE: u64 = 60;
    let mut network = Network::patient(8, Ring::new, PATIENCE);
    network.run(10 * PATIENCE as usize, |from, to| to == (from + 1) % 8);
    let evictions: u64 = network.peers.iter().map(|peer| peer.counters().evictions).sum();
    assert_eq!(evictions, 0);
}

#[test]
fn who_cannot_complete_words_gets_full_ones() {
    let mut network = Network::new(2, Complete::new);
    network.run(20, |_, _| true);
    assert_eq!(network.peers[1].counters().refused, 0);
    network.peers[1].exchange.forget_references();
    network.run(20, |_, _| true);
    let refused = network.peers[1].counters().refused;
    assert!((1..=4).contains(&refused), "{refused} messages refused");
}

#[test]
fn a_peer_that_receives_no_mass_stops_giving_and_asks_others() {
    let mut network = Network::new(3, Ring::new);
    network.run(10, |_, _| true);
    network.run(11, |_, to| to != 0);
    let given = network.peers[0].ledger().sent(1).map(<[i64]>::to_vec);
    network.sent.clear();
    network.run(6, |_, to| to != 0);
    let asks = |header: &&Header| header.contents.intent == Intent::RequestShare;
    assert_eq!(network.sent.iter().filter(asks).filter(|header| header.from == 0).count(), 6, "in every round");
    assert_eq!(network.peers[0].ledger().sent(1), given.as_deref(), "it gives nothing");
    assert!(network.peers[0].ledger().received(1).is_none(), "node 1 is not its source");
    network.run(6, |from, to| (from, to) != (2, 0));
    assert!(network.peers[0].ledger().received(1).is_some(), "node 1 gives it what a target gets");
}

#[test]
fn a_rumour_of_its_death_makes_a_peer_begin_a_new_life() {
    let mut network = Network::new(3, Complete::new);
    network.run(10, |_, _| true);
    network.tell(1, Event::Suspect(0));
    assert!(network.peers[1].ledger().sent(0).is_none() && network.peers[1].ledger().received(0).is_none());
    network.run(10, |_, _| true);
    let reborn = network.peers[0].incarnation();
    assert!(reborn > life(0) && network.peers[0].counters().refutations == 1);
    assert!(network.peers.iter().all(|peer| peer.table().living(0) == Some(reborn)));
}

#[test]
fn a_new_epoch_reaches_everybody_and_starts_the_trackers_anew() {
    let mut network = Network::new(3, Complete::new);
    network.run(10, |_, _| true);
    network.tell(2, Event::Command(Command::Restart));
    assert_eq!(network.peers[2].ledger().mass(), network.peers[2].ledger().input());
    network.run(3, |_, _| true);
    assert!(network.peers.iter().all(|peer| peer.epoch() == 1));
}

#[test]
fn a_peer_far_behind_goes_on_where_the_others_are() {
    let mut network = Network::new(2, Complete::new);
    (0..100).for_each(|_| network.tell(0, Event::Tick));
    assert_eq!((network.peers[0].round(), network.peers[1].round()), (100, 0));
    network.in_flight.clear();
    network.run(1, |_, _| true);
    assert!(network.peers[1].round() >= 100);
}

#[test]
fn messages_for_others_and_of_other_runs_are_refused() {
    let mut network = Network::new(3, Complete::new);
    network.run(1, |_, _| true);
    network.tell(0, Event::Tick);
    let (to, bytes) = network.in_flight.pop_front().unwrap();
    let wrong = if to == 1 { 2 } else { 1 };
    network.tell(wrong, Event::Message(bytes.clone()));
    assert_eq!(network.peers[wrong].counters().malformed, 1);
    let mut other = Peer::new(PeerConfig { run: 8, ..network.peers[to as usize].config.clone() }, life(to), 0, None);
    other.handle(Event::Message(bytes), &mut Vec::new());
    assert_eq!(other.counters().malformed, 1);
}

#[test]
fn a_peer_answers_who_is_behind_once_a_tick() {
    let mut network = Network::new(2, Complete::new);
    network.run(5, |_, _| true);
    network.tell(0, Event::Tick);
    let (_, bytes) = network.in_flight.pop_front().unwrap();
    network.tell(1, Event::Suspect(0));
    network.sent.clear();
    (0..3).for_each(|_| network.tell(1, Event::Message(bytes.clone())));
    let answer = Contents { intent: Intent::Answer, ..Contents::default() };
    assert_eq!(network.sent.iter().filter(|header| header.contents == answer).count(), 1);
}
