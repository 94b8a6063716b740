//! What every transport must do, checked for each of them by the same tests.
#![allow(clippy::disallowed_methods, reason = "real connections take real time")]

mod pairs;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fabnet_net::{Greeting, Input};
use pairs::{LOSS, Pair, every_pair};

/// The bytes of a message that is told from others by its number.
fn message(number: u32) -> Vec<u8> {
    [&number.to_le_bytes()[..], &[number as u8; 300]].concat()
}

/// The number of a message that has arrived; it must be whole, and from agent 0 to agent 1.
fn number(input: Input) -> Option<u32> {
    let Input::Message { from, to, bytes } = input else { return None };
    assert_eq!((from, to), (0, 1));
    let number = u32::from_le_bytes(*bytes.first_chunk().unwrap());
    assert_eq!(bytes, message(number), "message {number} was changed on the way");
    Some(number)
}

/// Sends until something arrives at the other end: connections take a moment.
fn connect(pair: &Pair) {
    pair.wait("connected", || {
        pair.ends[0].transport.send(0, 1, message(0));
        pair.ends[1].arrived().into_iter().any(|input| number(input).is_some())
    });
}

#[test]
fn messages_arrive_whole_in_whatever_order() {
    for pair in every_pair() {
        connect(&pair);
        let (mut arrived, mut copies) = (BTreeSet::new(), 0);
        for sent in 1..=200 {
            pair.ends[0].transport.send(0, 1, message(sent));
            pair.let_pass(Duration::from_millis(1));
            copies += take(&pair, &mut arrived);
            if !pair.loses {
                // If more than sixteen waited, the oldest would be dropped.
                pair.wait("all but the last eight have arrived", || {
                    copies += take(&pair, &mut arrived);
                    arrived.len() + 8 >= sent as usize
                });
            }
        }
        if pair.loses {
            pair.let_pass(Duration::from_millis(500));
            take(&pair, &mut arrived);
            assert!((80..190).contains(&arrived.len()), "{}: {} arrived", pair.name, arrived.len());
        } else {
            pair.wait("all have arrived", || {
                copies += take(&pair, &mut arrived);
                arrived.len() == 200
            });
            assert_eq!(copies, 200, "{}: none arrives twice", pair.name);
        }
        assert!(arrived.iter().all(|number| (1..=200).contains(number)), "{}", pair.name);
    }
}

/// Takes what has arrived since both ends were connected, and says how many messages these were.
fn take(pair: &Pair, numbers: &mut BTreeSet<u32>) -> usize {
    let arrived = pair.ends[1].arrived().into_iter().filter_map(number);
    // Number 0 was sent to connect, and may be late.
    let arrived: Vec<u32> = arrived.filter(|number| *number > 0).collect();
    numbers.extend(&arrived);
    arrived.len()
}

/// A neighbour that is flooded, or does not exist, or has gone, holds nobody up; of what waits for
/// it, the oldest is dropped, so that the newest arrives.
#[test]
fn sending_never_blocks_and_the_newest_messages_stay() {
    const LARGE: usize = 64 << 10;
    const FLOOD: u32 = 4000;
    for pair in every_pair() {
        connect(&pair);
        let start = Instant::now();
        for sent in 0..FLOOD {
            let mut bytes = vec![0; LARGE];
            bytes[..4].copy_from_slice(&sent.to_le_bytes());
            pair.ends[0].transport.send(0, 1, bytes);
            pair.ends[0].transport.send(0, 7, vec![0; 100]);
        }
        // Far more than handing over takes on a busy machine, and less than waiting for an agent
        // that nobody has.
        assert!(start.elapsed() < Duration::from_secs(10), "{}: {:?}", pair.name, start.elapsed());
        let (mut newest, mut count) = (0, 0);
        pair.wait("one of the newest arrives", || {
            for input in pair.ends[1].arrived() {
                if let Input::Message { bytes, .. } = input {
                    newest = newest.max(u32::from_le_bytes(*bytes.first_chunk().unwrap()));
                    count += 1;
                }
            }
            newest >= if pair.loses { FLOOD - 16 } else { FLOOD - 1 }
        });
        assert!(count <= 2 * FLOOD, "{}: {count}", pair.name);
        pair.ends[1].transport.close();
        (0..100).for_each(|sent| pair.ends[0].transport.send(0, 1, message(sent)));
    }
}

#[test]
fn closing_lets_what_waits_leave_and_nothing_after_it() {
    for pair in every_pair() {
        connect(&pair);
        (1..=10).for_each(|sent| pair.ends[0].transport.send(0, 1, message(sent)));
        pair.ends[0].transport.close();
        (11..=20).for_each(|sent| pair.ends[0].transport.send(0, 1, message(sent)));
        pair.ends[0].transport.close();
        let mut arrived = BTreeSet::new();
        if !pair.loses {
            pair.wait("all have arrived", || {
                take(&pair, &mut arrived);
                arrived.len() == 10
            });
        }
        pair.let_pass(Duration::from_millis(300));
        take(&pair, &mut arrived);
        assert!(arrived.iter().all(|number| *number <= 10), "{}: {arrived:?}", pair.name);
        assert!(!arrived.is_empty(), "{}", pair.name);
    }
}

#[test]
fn greetings_reach_the_others_as_they_are() {
    for pair in every_pair() {
        let digest = pair.config.run_digest("a plan", false).to_string();
        let certificates = vec![vec![7; 1000]; 3];
        let greeting = Greeting { digest, asks: true, certificates, expels: Some("number = 1\n".into()) };
        let expected = Input::Greeting { node: "alpha".into(), greeting: greeting.clone() };
        pair.wait("greeted", || {
            pair.ends[0].transport.greet("alpha", &greeting);
            pair.ends[1].arrived().contains(&expected)
        });
    }
}

#[test]
fn addresses_are_within_reach_as_long_as_somebody_is_there() {
    for pair in every_pair() {
        let [first, second] = &pair.ends;
        assert!(first.transport.reaches(&pair.config.members[1].address), "{}", pair.name);
        second.transport.close();
        pair.wait("out of reach", || !first.transport.reaches(&pair.config.members[1].address));
    }
}

#[test]
fn what_is_lost_on_purpose_is_counted() {
    for pair in every_pair() {
        let Some(dropped) = &pair.dropped else { continue };
        (0..1000).for_each(|sent| pair.ends[0].transport.send(0, 1, message(sent)));
        let fraction = dropped.load(Ordering::Relaxed) as f64 / 1000.0;
        assert!((fraction - LOSS).abs() < 0.06, "{}: {fraction} of all messages", pair.name);
    }
}
