//! Tests of the simulated network, one fault at a time.

use super::*;
use crate::attack::fault::ByFault;

const NOW: u64 = 1000;

/// A message of 40 words with a number in it, long enough to have a header.
fn message(number: u64) -> Vec<u8> {
    (0..40).flat_map(|word| (word * 1000 + number).to_le_bytes()).collect()
}

/// The queue at a moment, and a sampler with some faults at their highest rate.
fn surroundings(faults: &[Fault]) -> (FaultSampler, EventQueue) {
    let mut rates = ByFault::default();
    for &fault in faults {
        rates[fault] = 1.0;
    }
    let mut queue = EventQueue::default();
    queue.next_until(NOW);
    (FaultSampler::new(11, &rates), queue)
}

/// Sends numbered messages from node 0 to node 1, and returns all deliveries as
/// (time, receiver, bytes).
fn sent(faults: &[Fault], messages: u64) -> Vec<(u64, u32, Vec<u8>)> {
    let mut network = Network::complete(3);
    let (mut sampler, mut queue) = surroundings(faults);
    (0..messages).for_each(|number| network.transmit((0, 1), message(number), &mut sampler, &mut queue));
    deliveries(&queue)
}

fn deliveries(queue: &EventQueue) -> Vec<(u64, u32, Vec<u8>)> {
    let delivery = |(time, event): (u64, &Scheduled)| match event {
        Scheduled::Deliver { to, bytes } => (time, *to, bytes.clone()),
        other => panic!("a network only delivers: {other:?}"),
    };
    queue.pending().map(delivery).collect()
}

/// Whether a message from one node to another arrives now.
fn arrives(network: &mut Network, link: (u32, u32)) -> bool {
    let (mut sampler, mut queue) = surroundings(&[]);
    network.transmit(link, message(0), &mut sampler, &mut queue);
    queue.pending().count() == 1
}

#[test]
fn without_faults_every_message_arrives_once_and_within_half_a_tick() {
    let mut arrived = sent(&[], 100);
    assert!(arrived.iter().all(|(time, to, _)| (1..=TICK / 2).contains(&(time - NOW)) && *to == 1));
    arrived.sort_by_key(|(_, _, bytes)| bytes[0]);
    assert!(arrived.into_iter().map(|(_, _, bytes)| bytes).eq((0..100).map(message)));
}

#[test]
fn losses_are_milder_in_the_calm() {
    let lost = |calm: bool| {
        let mut network = Network::complete(2);
        let (mut sampler, mut queue) = surroundings(&[Fault::Loss]);
        if calm {
            sampler.calm_down();
        }
        (0..2000).for_each(|number| network.transmit((0, 1), message(number), &mut sampler, &mut queue));
        1.0 - queue.pending().count() as f64 / 2000.0
    };
    assert!((lost(false) - 0.6).abs() < 0.04 && (lost(true) - 0.3).abs() < 0.04, "{} {}", lost(false), lost(true));
}

#[test]
fn duplicates_are_the_same_message_again() {
    let arrived = sent(&[Fault::Duplicate], 1000);
    assert!((1250..1350).contains(&arrived.len()), "{} deliveries", arrived.len());
    let mut numbers: Vec<Vec<u8>> = arrived.into_iter().map(|(_, _, bytes)| bytes).collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 1000);
}

#[test]
fn delays_are_long_only_in_chaos() {
    let longest = sent(&[Fault::Delay], 1000).last().unwrap().0 - NOW;
    assert!((500 * TICK..1001 * TICK).contains(&longest), "{longest} moments");
    let overtaken = sent(&[Fault::Reorder], 1000).last().unwrap().0 - NOW;
    assert!((TICK..=5 * TICK).contains(&overtaken), "{overtaken} moments");
}

#[test]
fn a_replay_repeats_an_old_message_to_its_receiver() {
    let mut network = Network::complete(3);
    let (mut sampler, mut queue) = surroundings(&[Fault::Replay]);
    (0..500).for_each(|number| network.transmit((0, number as u32 % 3), message(number), &mut sampler, &mut queue));
    let arrived = deliveries(&queue);
    assert!((530..570).contains(&arrived.len()), "{} deliveries", arrived.len());
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(
        arrived.iter().all(|(_, to, bytes)| *bytes == message(number(bytes)) && u64::from(*to) == number(bytes) % 3)
    );
    assert_eq!(network.old.len(), KEPT);
}

#[test]
fn damage_changes_one_bit_or_the_length() {
    for (_, _, bytes) in sent(&[Fault::Corrupt], 200) {
        let flipped = |original: Vec<u8>| -> u32 {
            bytes.iter().zip(original).map(|(one, other)| (one ^ other).count_ones()).sum()
        };
        assert!((0..200).map(|number| flipped(message(number))).min().unwrap() <= 1);
    }
    let whole = message(0).len();
    let cut = sent(&[Fault::Truncate], 1000).iter().filter(|(_, _, bytes)| bytes.len() < whole).count();
    assert!((60..140).contains(&cut), "{cut} of 1000 cut off");
}

#[test]
fn foreign_messages_come_beside_the_real_ones() {
    let real = |bytes: &Vec<u8>| (0..300).any(|number| *bytes == message(number));
    let other_run = sent(&[Fault::OtherRun], 300);
    let foreign = other_run.iter().filter(|(_, _, bytes)| !real(bytes)).count();
    assert_eq!(other_run.len(), 300 + foreign);
    assert!((15..60).contains(&foreign), "{foreign} messages of another run");
    let forged = sent(&[Fault::Forge], 300);
    let random = forged.iter().filter(|(_, _, bytes)| !real(bytes)).count();
    assert_eq!(forged.len(), 300 + 2 * random, "each forgery also sends the message to somebody");
    assert!(forged.iter().any(|(_, to, _)| *to != 1));
}

#[test]
fn a_cut_link_carries_nothing_in_one_direction_until_its_end() {
    let mut network = Network::complete(3);
    network.cut(0, 1, NOW + 1);
    assert!(!arrives(&mut network, (0, 1)) && arrives(&mut network, (1, 0)) && arrives(&mut network, (0, 2)));
    network.repair_all();
    network.cut(0, 1, NOW);
    assert!(arrives(&mut network, (0, 1)), "the cut is over");
}

#[test]
fn dead_links_stay_dead_when_others_are_repaired() {
    let mut network = Network::complete(3);
    network.cut(0, 1, FOR_EVER);
    network.cut(1, 2, NOW + 1);
    network.repair();
    assert_eq!(network.dead_links(), 1);
    assert!(!arrives(&mut network, (0, 1)) && arrives(&mut network, (1, 2)));
    network.repair_all();
    assert!(arrives(&mut network, (0, 1)));
}

#[test]
fn in_a_ring_only_the_next_node_is_reached() {
    let mut network = Network::ring(3);
    assert!(arrives(&mut network, (0, 1)) && arrives(&mut network, (2, 0)));
    assert!(!arrives(&mut network, (1, 0)) && !arrives(&mut network, (0, 2)));
}

#[test]
fn nodes_are_connected_if_there_are_paths_both_ways() {
    let mut network = Network::complete(4);
    assert!(network.connects(&[0, 1, 2, 3]));
    network.cut(0, 1, FOR_EVER);
    assert!(network.connects(&[0, 1, 2]), "there is a way round");
    assert!(!network.connects(&[0, 1]));
    for to in [1, 2, 3] {
        network.cut(0, to, FOR_EVER);
    }
    assert!(!network.connects(&[0, 1, 2, 3]), "nothing leaves node 0");
    assert!(network.connects(&[1, 2, 3]) && network.connects(&[0]));
    network.repair_all();
    for from in [1, 2, 3] {
        network.cut(from, 0, FOR_EVER);
    }
    assert!(!network.connects(&[0, 1, 2, 3]), "nothing reaches node 0");
}
