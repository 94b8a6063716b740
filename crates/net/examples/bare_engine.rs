//! What Zenoh alone does: `bare_engine NODE.toml BYTES ROUNDS`, one process for each member of
//! the file. In each round every node puts one message for each of its two neighbours on a ring,
//! and waits for theirs. Prints the seconds that the rounds took; `benches/network/engine_ratio.py`
//! sets rounds of fabnet's nodes against it.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used, reason = "a measurement")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fabnet_net::{Config, open_session};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;

fn main() {
    let [file, bytes, rounds] = <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>())
        .expect("usage: bare_engine NODE.toml BYTES ROUNDS");
    let (bytes, rounds): (usize, u64) = (bytes.parse().expect("bytes"), rounds.parse().expect("rounds"));
    let config = Config::read(Path::new(&file)).expect("a node's file");
    let place = config.members.iter().position(|member| member.name == config.node).expect("a member");
    let members = config.members.len();
    let session = open_session(&config, bytes).expect("a session");
    let (arrived, arrivals) = channel();
    // Touched as little as can be: who sent it, and its length, which tells rounds from greetings.
    let note = move |sample: Sample| {
        let from = sample.key_expr().as_str().rsplit('/').nth(1).and_then(|from| from.parse::<usize>().ok());
        _ = arrived.send((from, sample.payload().len()));
    };
    let key = format!("fabnet/{}/*/{place}", config.run);
    let _subscriber = session.declare_subscriber(key).callback(note).wait().expect("a subscriber");
    let neighbours = [(place + 1) % members, (place + members - 1) % members];
    let publishers = neighbours.map(|to| {
        let key = format!("fabnet/{}/{place}/{to}", config.run);
        session.declare_publisher(key).congestion_control(CongestionControl::Block).wait().expect("a publisher")
    });
    // One buffer for all messages, as it is.
    let payload = ZBytes::from(vec![7u8; bytes]);
    let round = |arrivals: &Receiver<(Option<usize>, usize)>| {
        std::thread::scope(|scope| {
            for publisher in &publishers {
                scope.spawn(|| publisher.put(payload.clone()).wait().expect("put"));
            }
            for _ in 0..2 {
                while arrivals.recv().expect("a message").1 != bytes {}
            }
        });
    };
    // A greeting has one byte, and two once both neighbours were heard: when theirs have two, all
    // ways are open.
    let (mut heard, mut ready) = (BTreeSet::new(), BTreeSet::new());
    while ready.len() < 2 {
        std::thread::sleep(Duration::from_millis(50));
        for (from, length) in arrivals.try_iter() {
            heard.insert(from);
            if length == 2 {
                ready.insert(from);
            }
        }
        let greeting = vec![0u8; if heard.len() == 2 { 2 } else { 1 }];
        for publisher in &publishers {
            publisher.put(greeting.clone()).wait().expect("put");
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    round(&arrivals);
    let start = Instant::now();
    for _ in 0..rounds {
        round(&arrivals);
    }
    println!("{}", start.elapsed().as_secs_f64());
    // Who is behind still needs the connection.
    std::thread::sleep(Duration::from_secs(1));
}
