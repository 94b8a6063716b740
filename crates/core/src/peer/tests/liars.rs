//! Messages of a member that lies: all checksums are right, and what they say is absurd.

use super::fixtures::life;
use super::victim::{ABSURD, LIAR, Victim};
use crate::peer::membership::{Ack, Carried, EdgeClosure, GossipPayload, Receipt};
use crate::peer::wire::tests::in_full;
use crate::peer::{Command, Contents, Event, Header, Intent};

#[test]
fn nobody_is_led_to_the_last_epoch() {
    let mut victim = Victim::new();
    // Epochs that can be are followed, however long a peer was away.
    victim.hear(&Header { epoch: 1000, ..victim.header(1) }, &GossipPayload::default());
    assert_eq!(victim.peer.epoch(), 1000);
    victim.tell(Event::Command(Command::Restart));
    assert_eq!(victim.peer.epoch(), 1001);
    (2..10)
        .for_each(|number| victim.hear(&Header { epoch: ABSURD, ..victim.header(number) }, &GossipPayload::default()));
    assert!(victim.peer.epoch() < ABSURD >> 32, "in epoch {}", victim.peer.epoch());
}

/// A peer that a liar has led far ahead of the others is still heard by them.
#[test]
fn peers_find_together_again_however_many_epochs_they_are_apart() {
    let mut victim = Victim::new();
    let epoch = 5 << 20;
    (1..10).for_each(|number| victim.hear(&Header { epoch, ..victim.header(number) }, &GossipPayload::default()));
    assert_eq!((victim.peer.epoch(), victim.peer.counters().malformed), (epoch, 0));
}

#[test]
fn closed_edges_to_nodes_that_cannot_be_are_not_kept() {
    let mut victim = Victim::new();
    for number in 0..100u32 {
        let closure = |to| EdgeClosure { from: LIAR, to: 3 + 2 * number + to, life: life(LIAR).tag(), generation: 1 };
        let gossip = GossipPayload { closures: (0..2).map(closure).collect(), ..GossipPayload::default() };
        victim.hear(&victim.header(1 + u64::from(number)), &gossip);
    }
    assert_eq!(victim.peer.counters().malformed, 0, "these messages are read");
    assert!(victim.peer.membership.closures().is_empty(), "{} closures", victim.peer.membership.closures().len());
}

#[test]
fn a_thousand_requests_in_a_tick_draw_one_share() {
    let mut victim = Victim::new();
    victim.sent.clear();
    for sequence in 1..=1000 {
        let contents = Contents { intent: Intent::RequestShare, ..Contents::default() };
        let digest = victim.peer.membership.digest();
        victim.hear(&Header { digest, contents, ..victim.header(sequence) }, &GossipPayload::default());
    }
    assert_eq!(victim.sent.len(), 1, "a share for the first request");
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_does_not_hide_those_that_count() {
    let mut victim = Victim::new();
    let (patience, generation) = (victim.peer.config.policy.close_after, victim.peer.generation(1));
    assert!(victim.peer.ledger().sent(1).is_some());
    let acknowledge = |victim: &mut Victim, from: u32, number: u64, sequence: u64| {
        let header = Header { from, incarnation: life(from), beat: number, ..victim.header(number) };
        let acks = vec![Ack { by: 1, from: 0, life: life(0).tag(), sequence }];
        victim.hear(&header, &GossipPayload { acks, ..GossipPayload::default() });
    };
    acknowledge(&mut victim, LIAR, 1, ABSURD);
    for number in 1..=patience + 2 {
        let newest = victim.peer.exchange.sequence();
        acknowledge(&mut victim, 1, number, newest);
        victim.tell(Event::Tick);
    }
    assert_eq!(victim.peer.generation(1), generation, "the edge between honest nodes was closed");
}

#[test]
fn one_member_alone_does_not_lead_others_to_the_end() {
    let mut victim = Victim::new();
    let contents = Contents { pulled: true, ..Contents::default() };
    let hear = |victim: &mut Victim, from: u32, round: u64, sequence: u64| {
        let header = Header { from, incarnation: life(from), round, contents, ..victim.header(sequence) };
        let bytes = in_full::<f64>(&victim.peer.format, &header, &GossipPayload::default(), (&[0.0; 3], &[]));
        victim.tell(Event::Message(bytes));
    };
    hear(&mut victim, LIAR, ABSURD, 1);
    assert!(victim.peer.round() < 10, "nobody else was heard yet");
    hear(&mut victim, 1, 2, 1);
    (0..20).for_each(|_| victim.tell(Event::Tick));
    hear(&mut victim, LIAR, ABSURD, 2);
    assert!(victim.peer.round() < 30, "in round {}", victim.peer.round());
    assert_eq!(victim.peer.counters().malformed, 0, "the message is read");
    // When another one is far ahead, too, the run is there.
    hear(&mut victim, 1, 500, 2);
    assert_eq!(victim.peer.round(), 500);
}

#[test]
fn a_life_that_was_never_on_a_disk_has_forgotten_nothing() {
    let mut victim = Victim::new();
    let own = life(0).tag();
    for sequence in 1..100 {
        victim.hear(&Header { held: 7, ..victim.header(3 * sequence) }, &GossipPayload::default());
        let closures = vec![EdgeClosure { from: 0, to: LIAR, life: own, generation: 9 }];
        victim.hear(&victim.header(3 * sequence + 1), &GossipPayload { closures, ..GossipPayload::default() });
        let carried = Carried::Parts { mask: 1, pulled: true, mass: true };
        let lives = (own as u32, life(LIAR).tag() as u32);
        let receipt = Receipt { by: 0, by_life: lives.0, from: LIAR, life: lives.1, carried, sequence: ABSURD };
        let receipts = vec![receipt];
        victim.hear(&victim.header(3 * sequence + 2), &GossipPayload { receipts, ..GossipPayload::default() });
    }
    assert_eq!((victim.peer.incarnation(), victim.peer.counters().forgotten), (life(0), 0));
}
