//! Tests of lies: that they are told, and that peers must read them.

use std::collections::BTreeSet;

use fabnet_core::peer::{Event, SealOrigin, WireFormat};

use super::*;
use crate::attack::fault::ByFault;
use crate::attack::fixture::{Exchange, calm_scenario};
use crate::attack::scenario::Scenario;

/// Whatever a liar says is a message of the run, so that peers have to judge it.
#[test]
fn all_kinds_of_lies_are_told_and_read() {
    let mut exchange = Exchange::new(&Scenario { sealed: true, ..calm_scenario(4, false) });
    let task = exchange.peers[3].config();
    let format = WireFormat::new(task.run, 4, &task.algorithm.segments(0), task.word_length());
    let format = format.with_seals(NodeKey::SEAL);
    let lengths = ChunkLengths::new(&task.algorithm.segments(0));
    let mut sampler = FaultSampler::new(5, &ByFault::default());
    let (mut kinds, mut told) = (BTreeSet::new(), 0);
    for _ in 0..200 {
        exchange.round(|_, _| true);
        for (_, bytes) in exchange.sent.clone().iter().filter(|(_, bytes)| bytes[16] == 3) {
            let peer = &exchange.peers[3];
            let lies = Liar { peer, seed: 1, lengths: &lengths, sampler: &mut sampler }.lies(WireMessage(bytes));
            for (to, lie) in lies {
                let message = format.read::<f64>(&lie).unwrap();
                assert_eq!((message.header.from, message.header.to), (3, to));
                let control = message.control;
                kinds.extend(control.member_states().map(|(_, state)| if state.dead { "death" } else { "life" }));
                kinds.extend(control.closures().map(|_| "closure"));
                kinds.extend(control.heartbeats().map(|_| "heartbeat"));
                kinds.extend(control.acks().map(|_| "ack"));
                kinds.extend(control.receipts().map(|_| "receipt"));
                kinds.extend(message.header.contents.mass.then_some("mass"));
                kinds.extend((message.header.epoch >= ABSURD).then_some("epoch"));
                kinds.extend((message.header.round == ABSURD).then_some("round"));
                told += 1;
            }
        }
    }
    assert!(told > 500, "{told} lies");
    let all = ["ack", "closure", "death", "epoch", "heartbeat", "life", "mass", "receipt", "round"];
    assert!(kinds.iter().copied().eq(all), "{kinds:?}");
}

/// A forgery that says what the true message says is believed: nothing but the lies is wrong
/// with it.
#[test]
fn seals_of_others_are_read_where_they_stand() {
    let mut exchange = Exchange::new(&Scenario { sealed: true, ..calm_scenario(3, false) });
    (0..9).for_each(|_| exchange.round(|_, _| true));
    let tables = exchange.sent.iter().map(|(_, bytes)| WireMessage(bytes).seals_of_lives(NodeKey::SEAL));
    let own = tables.rev().find(|seals| !seals.is_empty()).unwrap();
    let claim = |node: u32| {
        let incarnation = exchange.peers[node as usize].incarnation();
        Declaration { run: exchange.peers[0].config().run, node, incarnation, claim: Claim::Lives }
    };
    let seed = exchange.peers[0].config().seed;
    let sealed =
        own.iter().filter(|(node, seal)| NodeKey::new(seed, 0).origin(&claim(**node), seal) == SealOrigin::Owner);
    assert!(sealed.count() > 0, "{own:?}");
    exchange.tell(0, Event::Tick);
}
