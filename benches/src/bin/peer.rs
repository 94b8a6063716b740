//! What a round costs a peer: four peers in lockstep on one thread, push-pull on the diagonal
//! quadratic, messages handed over in memory. Time per scalar of the point and round, the gradient
//! included, is given in nanoseconds and in bytes that a triad `a = b + s·c` moves meanwhile on one
//! thread of the same process; memory per scalar is that of the process, with the data of the
//! problem and the messages that wait.
//!
//!     peer [SCALARS [ROUNDS]]     a million scalars and 40 rounds if not given
#![allow(clippy::print_stdout, reason = "this program prints its measurement")]

use std::collections::VecDeque;
use std::sync::Arc;

use fabnet_benches::{Triad, best, elapsed, with_threads};
use fabnet_core::algorithm::{PushPull, Steps};
use fabnet_core::direction::Gradient;
use fabnet_core::peer::{
    Effect, Event, Incarnation, NeighbourSource, PeerConfig, Policy, SyncMode, Table, Unit, WordLength,
};
use fabnet_core::topology::{Ring, Undirected};
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem, Scalar, Topology};
use fabnet_problems::Quadratic;

const PEERS: usize = 4;
/// The rounds that are timed together.
const TURN: u64 = 5;

/// What is measured: the kind of scalars, the bits of words, and the ring.
const ROWS: [(&str, u32, &str); 8] = [
    ("f64", 64, "undirected"),
    ("f64", 32, "undirected"),
    ("f64", 16, "undirected"),
    ("f64", 8, "undirected"),
    ("f64", 16, "directed"),
    ("f64", 8, "directed"),
    ("f32", 16, "undirected"),
    ("f32", 16, "directed"),
];

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (scalars, rounds) = (number(&numbers, 0, 1_000_000), number(&numbers, 1, 40) as u64);
    if let Some(&row) = numbers.get(2) {
        return with_threads(1, || measure_row(ROWS[row], scalars, rounds));
    }
    println!("{PEERS} peers, {scalars} scalars, one thread; per scalar and round");
    println!(
        "{:>11} {:>5} {:>5} | {:>5} {:>12} | {:>5} {:>7}",
        "ring", "", "words", "ns", "bytes triad", "sent", "memory"
    );
    for row in 0..ROWS.len() {
        // Each in a process of its own, so that its memory is its own.
        let program = std::env::current_exe().expect("this program has a path");
        let numbers = [scalars, rounds as usize, row].map(|number| number.to_string());
        let ended = std::process::Command::new(program).args(numbers).status();
        assert!(ended.is_ok_and(|ended| ended.success()), "a measurement has failed");
    }
}

fn number(numbers: &[usize], place: usize, otherwise: usize) -> usize {
    numbers.get(place).copied().unwrap_or(otherwise)
}

fn measure_row((scalar, bits, ring): (&str, u32, &str), scalars: usize, rounds: u64) {
    let words = WordLength::of_bits(bits).unwrap_or_default();
    let undirected = ring == "undirected";
    print!("{ring:>11} {scalar:>5} {bits:>5}");
    match scalar {
        "f32" => measure::<f32>(scalars, rounds, words, undirected),
        _ => measure::<f64>(scalars, rounds, words, undirected),
    }
}

fn measure<T: Scalar>(scalars: usize, rounds: u64, words: WordLength, undirected: bool) {
    let rate = {
        let mut triad = Triad::new(scalars);
        best((0..7).map(|_| triad.rate()))
    };
    let before = resident();
    let mut cluster = Cluster::<T>::new(scalars, rounds, words, undirected);
    cluster.until(2 * TURN);
    let (mut fastest, mut sent) = (f64::INFINITY, 0);
    for turn in 2..rounds / TURN {
        sent = 0;
        let time = elapsed(|| sent = cluster.until((turn + 1) * TURN));
        fastest = fastest.min(time / (PEERS * scalars) as f64 / TURN as f64 * 1e9);
    }
    let memory = resident().saturating_sub(before) as f64 / (PEERS * scalars) as f64;
    let messages = (PEERS * scalars * if undirected { 2 } else { 1 }) as f64 * TURN as f64;
    println!(" | {fastest:>5.1} {:>12.0} | {:>5.2} {memory:>7.0}", fastest * rate, sent as f64 / messages);
}

/// The peers, and what is to happen to them.
struct Cluster<T: Scalar> {
    peers: Vec<Peer<T>>,
    events: VecDeque<(usize, Event)>,
}

impl<T: Scalar> Cluster<T> {
    fn new(scalars: usize, rounds: u64, words: WordLength, undirected: bool) -> Self {
        let problem: Arc<dyn Problem<T>> = Arc::new(Quadratic::new(PEERS, scalars, 4.0, 1.0, 0));
        let method = PushPull::new(&*problem, Gradient::new(), Steps::same(0.1)).expect("one step fits every block");
        let algorithm: Arc<dyn Algorithm<T>> = Arc::new(method);
        let ring = move |agents| -> Arc<dyn Topology> {
            let ring = Ring::new(agents);
            if undirected { Arc::new(Undirected::new(Box::new(ring))) } else { Arc::new(ring) }
        };
        let schedule = NeighbourSource::Living(Arc::new(ring));
        let policy = Policy { rounds, ..Policy::new(SyncMode::Lockstep { deadline: 100 }, PEERS) };
        let config = |node: u32| PeerConfig {
            algorithm: algorithm.clone(),
            problem: problem.clone(),
            seed: 0,
            node,
            run: 1,
            unit: Unit::default(),
            words,
            schedule: schedule.clone(),
            weights: Arc::new(Uniform),
            policy,
        };
        let incarnation = |node: u32| Incarnation { counter: 1, nonce: u64::from(node) };
        let mut peers: Vec<Peer<T>> =
            (0..PEERS as u32).map(|node| Peer::new(config(node), incarnation(node), 0, None)).collect();
        let roster = Table::of_living(PEERS, (0..PEERS as u32).map(|node| (node, incarnation(node))));
        for peer in &mut peers {
            peer.meet(&roster);
        }
        let events = (0..PEERS).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
        Self { peers, events }
    }

    /// Goes on until all peers are in this round, and returns the bytes that were sent.
    fn until(&mut self, round: u64) -> usize {
        let mut sent = 0;
        while self.peers.iter().any(|peer| peer.round() < round) {
            let Some((node, event)) = self.events.pop_front() else {
                self.events.extend((0..PEERS).map(|node| (node, Event::Tick)));
                continue;
            };
            let mut effects = Vec::new();
            self.peers[node].handle(event, &mut effects);
            for effect in effects {
                self.events.push_back(match effect {
                    Effect::Send { to, bytes } => {
                        sent += bytes.len();
                        (to as usize, Event::Message(bytes))
                    }
                    Effect::Store { ticket, .. } => (node, Event::Stored { ticket, safe: true }),
                });
            }
        }
        sent
    }
}

/// The bytes of memory that this process occupies.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}
