//! What Zenoh alone does: `bare_engine NODE.toml BYTES ROUNDS [touch]`, one process for each member
//! of the file. In each round every node puts one message for each of its two neighbours on a ring,
//! and waits for theirs; with `touch`, it also writes each message and reads each that comes, once.
//! What does not come within half a second is asked for by putting the round's messages again.
//! Prints the seconds that the rounds took; `benches/network/engine_ratio.py` sets rounds of
//! fabnet's nodes against it.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used, reason = "a measurement")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use fabnet_net::{Config, open_session};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;

/// A message is put again if nothing has come in this time, as nodes with this tick do.
const TICK: Duration = Duration::from_millis(500);
/// What reading has found, kept so that it is not optimised away.
static READ: AtomicU64 = AtomicU64::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, bytes, rounds] = arguments.first_chunk().expect("usage: bare_engine NODE.toml BYTES ROUNDS [touch]");
    let (bytes, rounds): (usize, u64) = (bytes.parse().expect("bytes"), rounds.parse().expect("rounds"));
    let touch = arguments.get(3).is_some_and(|word| word == "touch");
    let config = Config::read(Path::new(file)).expect("a node's file");
    let place = config.members.iter().position(|member| member.name == config.node).expect("a member");
    let members = config.members.len();
    let session = open_session(&config, bytes).expect("a session");
    let (arrived, arrivals) = channel();
    let key = format!("fabnet/{}/*/{place}", config.run);
    let note = move |sample: Sample| note(&sample, touch, &arrived);
    let _subscriber = session.declare_subscriber(key).callback(note).wait().expect("a subscriber");
    let neighbours = [(place + 1) % members, (place + members - 1) % members];
    let publishers = neighbours.map(|to| {
        let key = format!("fabnet/{}/{place}/{to}", config.run);
        session.declare_publisher(key).congestion_control(CongestionControl::Block).wait().expect("a publisher")
    });
    let mut ring = BareRing { publishers, arrivals, neighbours, latest: [0; 2], bytes, touch };
    // Rounds that are not timed, until all ways are open.
    for round in 1..=3 {
        ring.round(round);
    }
    let start = Instant::now();
    for round in 4..rounds + 4 {
        ring.round(round);
    }
    println!("{}", start.elapsed().as_secs_f64());
    // Who is behind still needs the connection, and what was lost.
    for _ in 0..4 {
        ring.put(rounds + 3);
        std::thread::sleep(TICK);
    }
}

/// Notes who has sent a message, and in which round.
fn note(sample: &Sample, touch: bool, arrived: &Sender<(usize, u64)>) {
    let from = sample.key_expr().as_str().rsplit('/').nth(1).and_then(|from| from.parse().ok());
    let round = sample.attachment().and_then(|round| round.to_bytes().as_ref().try_into().ok()).map(u64::from_le_bytes);
    if touch {
        let words = sample.payload().slices().flat_map(|slice| slice.as_chunks().0);
        let sum = words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)));
        READ.fetch_add(sum, Ordering::Relaxed);
    }
    if let (Some(from), Some(round)) = (from, round) {
        _ = arrived.send((from, round));
    }
}

/// One node of the ring.
struct BareRing<'a> {
    publishers: [Publisher<'a>; 2],
    arrivals: Receiver<(usize, u64)>,
    neighbours: [usize; 2],
    /// The latest round that was heard of each neighbour. A later message stands for those before.
    latest: [u64; 2],
    bytes: usize,
    touch: bool,
}

impl BareRing<'_> {
    /// Puts the messages of a round, and waits for those of the neighbours.
    fn round(&mut self, round: u64) {
        self.put(round);
        while self.latest.iter().any(|latest| *latest < round) {
            match self.arrivals.recv_timeout(TICK) {
                Ok((from, round)) => {
                    for (latest, _) in self.latest.iter_mut().zip(self.neighbours).filter(|(_, node)| *node == from) {
                        *latest = round.max(*latest);
                    }
                }
                Err(_) => self.put(round),
            }
        }
    }

    fn put(&self, round: u64) {
        // The same buffer for both, unless each is written.
        let write = |number: usize| ZBytes::from(vec![round as u8 ^ number as u8; self.bytes]);
        let untouched = write(0);
        std::thread::scope(|scope| {
            for (number, publisher) in self.publishers.iter().enumerate() {
                let payload = if self.touch && number > 0 { write(number) } else { untouched.clone() };
                scope.spawn(move || publisher.put(payload).attachment(round.to_le_bytes()).wait().expect("put"));
            }
        });
    }
}
