//! What one peer knows of the members, and what it tells others.

use super::*;
use crate::peer::Unsealed;
use crate::peer::tests::fixtures::Keyed;

/// Node 0 of this many in a run with seals.
fn sealed(nodes: usize) -> Membership {
    Membership::new(0, nodes, life(1), (60, 24), SealBook::new(Arc::new(Keyed(0)), 7))
}

fn unsealed() -> SealBook {
    SealBook::new(Arc::new(Unsealed), 7)
}

const NOW: Moment = Moment { round: 5, tick: 50 };

fn life(counter: u64) -> Incarnation {
    Incarnation { counter, nonce: counter }
}

/// Node 0 of four, which knows node 1 in its third life.
fn membership() -> Membership {
    let mut membership = Membership::new(0, 4, life(1), (60, 24), unsealed());
    assert!(membership.learn(1, MemberState::alive(life(3)), NOW));
    membership
}

fn no_stream() -> Stream {
    Stream::new(0, 0, 0, Purpose::Table)
}

#[test]
fn a_dead_member_revives_only_by_a_higher_incarnation() {
    let mut membership = membership();
    assert!(membership.learn(1, MemberState::dead(life(3)), NOW));
    assert!(!membership.learn(1, MemberState::alive(life(3)), NOW), "the same life");
    assert_eq!(**membership.members(), [0]);
    assert!(membership.learn(1, MemberState::alive(life(4)), NOW));
    assert_eq!(**membership.members(), [0, 1]);
    assert_eq!(membership.liveness(1).returns(), 1);
}

#[test]
fn a_refutation_is_above_the_rumour_and_above_the_own_life() {
    for rumour in [life(0), life(1), life(9)] {
        let mut membership = membership();
        membership.refute(rumour, NOW);
        assert!(membership.incarnation().counter > rumour.counter.max(1));
        assert_eq!(membership.table().living(0), Some(membership.incarnation()));
        assert!(!membership.is_above_own_life(MemberState::dead(rumour)));
    }
}

#[test]
fn a_change_travels_with_every_message_for_a_while() {
    let mut membership = membership();
    assert!(membership.attaches_table(28) && !membership.attaches_table(29));
    let digest = membership.digest();
    assert!(!membership.learn(1, MemberState::alive(life(3)), Moment { round: 100, tick: 0 }), "no news");
    assert!(!membership.attaches_table(100));
    membership.announce_closure(1, 1, 100);
    assert!(membership.attaches_table(100) && membership.digest() != digest);
}

#[test]
fn news_of_a_life_that_is_over_counts_for_nothing() {
    let mut membership = membership();
    let closure = |life: Incarnation| EdgeClosure { from: 1, to: 2, life: life.tag(), generation: 1 };
    assert!(!membership.learn_closure(closure(life(2)), 5));
    assert!(membership.learn_closure(closure(life(3)), 5));
    membership.hear(Heartbeat { node: 1, life: life(2).tag() as u32, count: 8 }, NOW);
    assert_eq!(membership.liveness(1).heartbeat(), 0);
    membership.hear(Heartbeat { node: 1, life: life(3).tag() as u32, count: 8 }, NOW);
    assert_eq!(membership.liveness(1).heartbeat(), 8);
    assert!(membership.learn_ack(Ack { by: 1, from: 0, life: life(1).tag(), sequence: 4 }, 50));
    assert!(!membership.learn_ack(Ack { by: 1, from: 0, life: life(2).tag(), sequence: 4 }, 50), "not of this life");
}

#[test]
fn heartbeats_and_acks_are_passed_on_and_the_table_only_if_asked() {
    let mut membership = membership();
    membership.hear(Heartbeat { node: 1, life: life(3).tag() as u32, count: 8 }, NOW);
    membership.hear_message(1, life(3), 77, NOW);
    let gossip = membership.gossip(1, None, NOW, no_stream);
    assert_eq!(gossip.heartbeats, [Heartbeat { node: 1, life: life(3).tag() as u32, count: 8 }]);
    assert_eq!(gossip.acks, [Ack { by: 0, from: 1, life: life(3).tag(), sequence: 77 }]);
    assert!(gossip.states.is_empty() && gossip.closures.is_empty());
    assert_eq!(membership.gossip(1, Some(4), NOW, no_stream).states.len(), 2);
}

#[test]
fn recent_changes_come_first_where_the_table_is_too_long() {
    let mut membership = Membership::new(0, 50, life(1), (60, 24), unsealed());
    for node in 1..50 {
        membership.learn(node, MemberState::alive(life(1)), Moment { round: 0, tick: 0 });
    }
    membership.learn(33, MemberState::dead(life(1)), Moment { round: 30, tick: 30 });
    let states = membership.gossip(1, Some(10), Moment { round: 31, tick: 31 }, no_stream).states;
    assert_eq!((states.len(), states[0]), (10, (33, MemberState::dead(life(1)))));
}

#[test]
fn who_leaves_says_so_and_others_tell_it_from_a_death() {
    let mut leaving = membership();
    leaving.leave();
    let states = leaving.gossip(1, Some(4), NOW, no_stream).states;
    assert_eq!(states[0], (0, MemberState::dead(life(1))));
    let mut other = Membership::new(1, 4, life(3), (60, 24), unsealed());
    other.learn(0, states[0].1, NOW);
    assert!(!other.liveness(0).has_left());
    other.learn_farewell(0, states[0].1);
    assert!(other.liveness(0).has_left());
}

#[test]
fn a_long_table_begins_with_the_own_life_where_nobody_else_has_its_seal() {
    let mut membership = sealed(50);
    for node in 1..50 {
        membership.learn(node, MemberState::alive(life(1)), Moment { round: 0, tick: 0 });
    }
    for sequence in 0..20 {
        let stream = || Stream::new(0, 0, sequence, Purpose::Table);
        let gossip = membership.gossip(1, Some(10), Moment { round: 100, tick: 100 }, stream);
        assert_eq!((gossip.states.len(), gossip.states[0].0), (10, 0));
        assert!(gossip.seals.len() == 160 && gossip.seals[..16].iter().any(|byte| *byte != 0));
    }
}

#[test]
fn who_has_left_and_returns_was_not_thought_dead_by_mistake() {
    let mut membership = sealed(4);
    for counter in 1..5 {
        membership.learn(1, MemberState::alive(life(counter)), NOW);
        membership.learn(1, MemberState::dead(life(counter)), NOW);
        if counter % 2 == 0 {
            membership.learn_farewell(1, MemberState::dead(life(counter)));
        }
    }
    assert_eq!(membership.liveness(1).returns(), 2, "after the first and the third life");
}
