//! Properties of ledgers and messages, before any network.

mod held;

use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::algorithm::{PushPull, Steps};
use crate::direction::Gradient;
use crate::topology::{Complete, Ring};
use crate::weights::Uniform;
use crate::{Algorithm, Dim, Kind, Level, Point, Problem, Scratch, Segment, Segments, Slopes, Topology};

/// What two ends of edges may do, in any order.
#[derive(Clone, Debug)]
enum Move {
    Share {
        from: usize,
        to: usize,
        part: f64,
    },
    /// The newest message of an edge, or an older one that comes late, is read.
    Read {
        from: usize,
        to: usize,
        late: bool,
    },
    Book {
        node: usize,
        level: i64,
    },
    Close {
        from: usize,
        to: usize,
    },
    Die {
        node: usize,
    },
}

fn moves(nodes: usize) -> impl Strategy<Value = Move> {
    let pair = move || (0..nodes, 0..nodes - 1).prop_map(|(from, to)| (from, if to >= from { to + 1 } else { to }));
    prop_oneof![
        4 => (pair(), 0.0..0.5f64).prop_map(|((from, to), part)| Move::Share { from, to, part }),
        4 => (pair(), any::<bool>()).prop_map(|((from, to), late)| Move::Read { from, to, late }),
        2 => (0..nodes, -1000i64..1000).prop_map(|(node, level)| Move::Book { node, level }),
        1 => pair().prop_map(|(from, to)| Move::Close { from, to }),
        1 => (0..nodes).prop_map(|node| Move::Die { node }),
    ]
}

proptest! {
    /// Whatever is lost, read late, closed or undone: no unit is ever lost or made, and the books always balance.
    #[test]
    fn mass_is_conserved(moves in prop::collection::vec(moves(4), 1..120)) {
        let mut ledgers: Vec<Ledger> = (0..4).map(|node| { let mut ledger = Ledger::default(); ledger.begin(&[1000 * node, -7]); ledger }).collect();
        let mut alive = [true; 4];
        let mut sent: Vec<Vec<Vec<i64>>> = vec![Vec::new(); 16];
        for one in moves {
            match one {
                Move::Share { from, to, part } if alive[from] && alive[to] => {
                    let before = ledgers[from].mass().to_vec();
                    ledgers[from].send(to as u32, iter::once(0..2), Fraction::of(part), &before);
                    sent[4 * from + to].push(ledgers[from].sent(to as u32).unwrap().to_vec());
                }
                Move::Read { from, to, late } if alive[from] && alive[to] => {
                    let messages = &sent[4 * from + to];
                    let newest = messages.last().cloned();
                    if let Some(sum) = if late { messages.first().cloned() } else { newest } {
                        ledgers[to].receive(from as u32, iter::once(0..2), sum.into_iter()).unwrap();
                    }
                }
                Move::Book { node, level } => ledgers[node].book(&[level, 2 * level]).unwrap(),
                Move::Close { from, to } if alive[from] && alive[to] => {
                    ledgers[from].take_back(to as u32);
                    ledgers[to].give_up(from as u32);
                    sent[4 * from + to].clear();
                }
                Move::Die { node } if alive.iter().filter(|alive| **alive).count() > 1 => {
                    alive[node] = false;
                    for ledger in &mut ledgers {
                        ledger.reverse(node as u32);
                    }
                    (0..4).for_each(|other| { sent[4 * node + other].clear(); sent[4 * other + node].clear(); });
                }
                _ => {}
            }
            prop_assert!(ledgers.iter().all(Ledger::audit));
            let living = || (0..4).filter(|&node| alive[node]);
            let mut sum = 0i64;
            for node in living() {
                sum += ledgers[node].mass().iter().sum::<i64>() - ledgers[node].input().iter().sum::<i64>();
                for other in living() {
                    let (out, inn) = (ledgers[node].sent(other as u32), ledgers[other].received(node as u32));
                    sum += out.map_or(0, |sums| sums.iter().sum()) - inn.map_or(0, |sums| sums.iter().sum::<i64>());
                }
            }
            prop_assert_eq!(sum, 0);
        }
    }

    /// Any bytes are a message of the run or are refused: never a panic, whatever the lengths in them say.
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..600), place in 0..200usize, change in any::<u64>()) {
        let manifest = manifest();
        prop_assert!(manifest.read::<f64>(&bytes).is_err());
        let mut message = example(&manifest);
        if let Some(word) = message.get_mut(8 * place..8 * place + 8) {
            word.copy_from_slice(&change.to_le_bytes());
        }
        // With a checksum that is right again: only what the numbers say can refuse it.
        let end = message.len() - 8;
        let checksum = twox_hash::XxHash3_64::oneshot(&message[..end]);
        message[end..].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(read) = manifest.read::<f64>(&message) {
            prop_assert!(read.standings().count() <= 5 && read.scalars::<f64>().all(f64::is_finite));
            prop_assert!(read.mass().count() <= 4);
        }
        prop_assert!(message.len() <= manifest.longest(8));
    }
}

fn manifest() -> Manifest {
    Manifest::new(
        7,
        5,
        &Segments::new([Segment::new(Kind::Pull, 3), Segment::new(Kind::Push, 4), Segment::new(Kind::Max, 2)]),
    )
}

fn example(manifest: &Manifest) -> Vec<u8> {
    let incarnation = Incarnation { counter: 3, nonce: 9 };
    let header = Header {
        from: 1,
        to: 2,
        incarnation,
        to_incarnation: Incarnation::default(),
        epoch: 4,
        round: 5,
        sequence: 6,
        generation: 7,
        beat: 8,
        held: 4,
        digest: 9,
        mask: crate::Mask::ALL,
        contents: Contents { pulled: true, mass: true, ..Contents::default() },
    };
    let draft = message::Draft {
        header,
        standings: &[(1, Standing { incarnation, dead: true })],
        closes: &[Close { from: 1, to: 2, life: 3, generation: 4 }],
        beats: &[Beat { node: 3, life: 1, count: 2 }],
        acks: &[Ack { by: 1, from: 2, life: 3, sequence: 4 }],
        row: &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0, 5.0],
        mass: &[-1, 2, -3, 4],
    };
    let mut bytes = Vec::new();
    manifest.write(&draft, &mut bytes);
    bytes
}

#[test]
fn a_message_says_what_was_written() {
    let manifest = manifest();
    let bytes = example(&manifest);
    let message = manifest.read::<f64>(&bytes).unwrap();
    assert_eq!((message.header.from, message.header.to, message.header.epoch), (1, 2, 4));
    assert_eq!((message.header.round, message.header.sequence, message.header.generation), (5, 6, 7));
    assert_eq!((message.header.beat, message.header.digest), (8, 9));
    assert_eq!(
        message.standings().collect::<Vec<_>>(),
        [(1, Standing { incarnation: Incarnation { counter: 3, nonce: 9 }, dead: true })]
    );
    assert_eq!(message.closes().collect::<Vec<_>>(), [Close { from: 1, to: 2, life: 3, generation: 4 }]);
    assert_eq!(Envelope::read(&bytes), Some(Envelope { run: 7, from: 1, to: 2 }));
    assert_eq!(message.beats().collect::<Vec<_>>(), [Beat { node: 3, life: 1, count: 2 }]);
    assert_eq!(message.acks().collect::<Vec<_>>(), [Ack { by: 1, from: 2, life: 3, sequence: 4 }]);
    assert_eq!(message.scalars::<f64>().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(message.mass().collect::<Vec<_>>(), [-1, 2, -3, 4]);
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(manifest.read::<f64>(&damaged).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(manifest.read::<f64>(&bytes[..length]).is_err(), "length {length}");
    }
}

#[test]
fn sums_that_wrap_around_conserve_mass() {
    let mut ledger = Ledger::default();
    ledger.begin(&[3]);
    let (mut sum, mut sent) = (0i64, 0i64);
    for _ in 0..40 {
        sum = sum.wrapping_add(1 << 60);
        ledger.receive(1, iter::once(0..1), [sum].into_iter()).unwrap();
        let before = ledger.mass().to_vec();
        ledger.send(2, iter::once(0..1), Fraction::of(0.999_999), &before);
        let now = ledger.sent(2).unwrap()[0];
        assert!(now.wrapping_sub(sent) > 1 << 59 && ledger.audit());
        sent = now;
    }
    assert!(ledger.mass()[0] > 0 && ledger.mass()[0] < 1 << 60, "what is here never wraps");
    assert!(ledger.receive(1, iter::once(0..1), [sum.wrapping_add(i64::MAX)].into_iter()).is_err());
}

/// What the nodes of a network are to do.
fn tasks<S: Topology + 'static>(agents: usize, exact: bool, topology: fn(usize) -> S) -> Vec<Task<f64>> {
    let problem: Arc<dyn Problem<f64>> = Arc::new(Bowls { agents });
    let method = PushPull::new(&*problem, Gradient::new(), Steps::same(0.1)).unwrap();
    let algorithm: Arc<dyn Algorithm<f64>> = Arc::new(method);
    let task = |node: u32| Task {
        algorithm: algorithm.clone(),
        problem: problem.clone(),
        seed: 0,
        node,
        run: 7,
        unit: Unit::default(),
        schedule: Schedule::Living(Arc::new(move |agents| Arc::new(topology(agents)))),
        weights: Arc::new(Uniform),
        policy: Policy { exact, ..Policy::new(Pace::Free, agents) },
    };
    (0..agents as u32).map(task).collect()
}

fn life(node: u32) -> Incarnation {
    Incarnation { counter: 1, nonce: u64::from(node) }
}

/// What a table that is too long for a message says gets round all the same, and messages stay short.
#[test]
fn news_gets_round_among_more_nodes_than_a_message_can_name() {
    let nodes = 2 * message::NEWS;
    let lives = || (0..nodes as u32).map(|node| (node, life(node)));
    let mut peers: Vec<Peer<f64>> = tasks(nodes, false, Ring::new)
        .into_iter()
        .zip(lives())
        .map(|(task, (_, life))| Peer::new(task, life, 0, None))
        .collect();
    let mut effects = Vec::new();
    for peer in &mut peers {
        peer.meet(lives());
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

/// Two peers that write everything down before they speak, and what the first of them wrote last.
fn exact_peers() -> (Vec<Peer<f64>>, Task<f64>, Vec<u8>) {
    let tasks = tasks(2, true, Complete::new);
    let mut peers: Vec<Peer<f64>> =
        tasks.iter().map(|task| Peer::new(task.clone(), life(task.node), 0, None)).collect();
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
    (peers, tasks[0].clone(), state)
}

#[test]
fn a_saved_peer_goes_on_in_the_same_life_or_not_at_all() {
    let (peers, task, state) = exact_peers();
    assert!(peers[0].ledger().sent(1).is_some() && peers[0].ledger().received(1).is_some(), "they have exchanged mass");
    let resumed = Peer::resume(task.clone(), &state).unwrap();
    assert_eq!(resumed.ledger(), peers[0].ledger());
    assert_eq!((resumed.row(), resumed.keep(), resumed.input()), (peers[0].row(), peers[0].keep(), peers[0].input()));
    assert_eq!(
        (resumed.incarnation(), resumed.epoch(), resumed.round()),
        (peers[0].incarnation(), peers[0].epoch(), peers[0].round())
    );
    assert_eq!(resumed.table(), peers[0].table());
    for length in 0..state.len() {
        assert!(Peer::resume(task.clone(), &state[..length]).is_err(), "cut off after {length} bytes");
    }
    for bit in 0..8 * state.len() {
        let mut rotten = state.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        assert!(Peer::resume(task.clone(), &rotten).is_err(), "bit {bit} has changed");
    }
    assert!(Peer::resume(Task { run: 8, ..task }, &state).is_err(), "another run");
}

/// `½ (y − agent)²`.
struct Bowls {
    agents: usize,
}

impl Problem<f64> for Bowls {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        Dim { outer: 0, inner: 3 }
    }

    fn add_gradient(&self, _level: Level, at: Point<'_, f64>, to: Slopes<'_, f64>, _scratch: &mut Scratch<f64>) {
        to.y.iter_mut().zip(at.y).for_each(|(slope, y)| *slope += to.scale.1 * (y - at.agent as f64));
    }

    fn value(&self, _level: Level, at: Point<'_, f64>) -> f64 {
        at.y.iter().map(|y| 0.5 * (y - at.agent as f64).powi(2)).sum()
    }
}
