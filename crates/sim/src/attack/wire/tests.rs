//! Tests of fields against core's own reader.

use fabnet_core::peer::WireFormat;

use super::*;
use crate::attack::fixture::{Exchange, calm_scenario};

/// The format of messages of some peers, as core reads it.
fn core_format(exchange: &Exchange) -> WireFormat {
    let task = exchange.peers[0].config();
    WireFormat::new(task.run, exchange.peers.len(), &task.algorithm.segments(0), task.word_length())
}

#[test]
fn fields_are_where_core_has_them() {
    let mut exchange = Exchange::new(&calm_scenario(3, false));
    let (format, mut carried) = (core_format(&exchange), 0);
    let lengths = ChunkLengths::new(&exchange.peers[0].config().algorithm.segments(0));
    let mut known = std::collections::BTreeMap::new();
    for _ in 0..20 {
        exchange.round(|_, _| true);
        for (to, bytes) in &exchange.sent {
            let (ours, core) = (WireMessage(bytes), format.read::<f64>(bytes).unwrap());
            let header = core.header;
            let edge = ours.edge();
            assert_eq!((edge.from, edge.to), ((header.from, header.incarnation), (*to, header.to_incarnation)));
            assert_eq!((edge.epoch, edge.generation), (header.epoch, header.generation));
            assert_eq!((ours.sequence(), ours.carries_mass()), (header.sequence, header.contents.mass));
            if ours.carries_mass() {
                let before: &mut Vec<i64> = known.entry((header.from, *to)).or_default();
                *before = ours.mass(&lengths, before);
                let sender = exchange.peers[header.from as usize].ledger();
                assert_eq!(Some(before.as_slice()), sender.sent(*to), "it stands for what the ledger says");
                carried += 1;
            }
        }
    }
    assert!(carried > 50, "only {carried} messages with mass");
}

#[test]
fn a_message_of_another_run_is_intact_but_foreign() {
    let mut exchange = Exchange::new(&calm_scenario(2, false));
    exchange.round(|_, _| true);
    let format = core_format(&exchange);
    let (_, bytes) = &exchange.sent[0];
    let other = WireMessage(bytes).of_another_run();
    assert_eq!(format.read::<f64>(&other).unwrap_err(), fabnet_core::peer::Malformed::Run);
    let task = exchange.peers[0].config();
    let their_format = WireFormat::new(task.run ^ 1, 2, &task.algorithm.segments(0), task.word_length());
    let theirs = their_format.read::<f64>(&other).unwrap().header;
    assert_eq!(theirs.sequence, WireMessage(bytes).sequence() ^ 256);
}

#[test]
fn a_stored_state_knows_of_the_newest_message() {
    let mut exchange = Exchange::new(&calm_scenario(2, true));
    for _ in 0..10 {
        exchange.round(|_, _| true);
        let newest = exchange.sent.iter().map(|(_, bytes)| WireMessage(bytes).sequence()).max();
        let stored = exchange.states.iter().map(|state| sequence_of_state(state)).max();
        assert!(stored.is_some() && stored >= newest, "{stored:?} stored, {newest:?} sent");
        assert!(stored.unwrap() < 100, "two peers have sent a few messages each");
    }
}

#[test]
fn words_beyond_the_end_are_zero() {
    assert_eq!((word(&[1, 0, 0, 0, 0, 0, 0, 0, 9], 0), word(&[1, 0, 0, 0, 0, 0, 0, 0, 9], 1)), (1, 0));
}
