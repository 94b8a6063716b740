//! Members' lives that only their owners can announce.

use std::sync::Arc;

use super::fixtures::{Keyed, configs, life};
use super::victim::{ABSURD, LIAR, Victim};
use crate::peer::membership::{Carried, EdgeClosure, GossipPayload, Heartbeat, MemberState, Receipt};
use crate::peer::wire::tests::in_full;
use crate::peer::{Claim, Command, Contents, Declaration, Event, Header, Incarnation, Peer, SealScheme, Table};
use crate::topology::Complete;

const RUN: u64 = 7;

fn later(node: u32, counter: u64) -> Incarnation {
    Incarnation { counter, ..life(node) }
}

/// The seal that the owner of a key makes of what a node may have said.
fn seal(key: u32, node: u32, incarnation: Incarnation, claim: Claim) -> Vec<u8> {
    Keyed(key).seal(&Declaration { run: RUN, node, incarnation, claim })
}

fn said(states: Vec<(u32, MemberState)>, seals: &[Vec<u8>]) -> GossipPayload {
    GossipPayload { states, seals: seals.concat(), ..GossipPayload::default() }
}

/// What the victim knows of node 1 after the liar has said this of it.
fn after(victim: &mut Victim, state: MemberState, seal: Vec<u8>) -> Option<MemberState> {
    let header = victim.header(victim.peer.clock.ticks() + 1);
    victim.hear(&header, &said(vec![(1, state)], &[seal]));
    victim.peer.table().get(1)
}

#[test]
fn only_its_owner_announces_a_life() {
    let absurd = later(1, ABSURD);
    let known = Some(MemberState::alive(life(1)));
    let forged = [
        ("no seal", vec![0; 16]),
        ("anything", vec![9; 16]),
        ("the seal of the liar", seal(LIAR, 1, absurd, Claim::Lives)),
        ("the liar's own life", seal(LIAR, LIAR, absurd, Claim::Lives)),
        ("an older life of the owner", seal(1, 1, life(1), Claim::Lives)),
        ("another declaration of the owner", seal(1, 1, absurd, Claim::Closed { to: 0, generation: 1 })),
    ];
    for (what, seal) in forged {
        for state in [MemberState::alive(absurd), MemberState::dead(absurd)] {
            assert_eq!(after(&mut Victim::sealed(), state, seal.clone()), known, "{what}");
        }
    }
    for state in [MemberState::alive(later(1, 2)), MemberState::dead(later(1, 2))] {
        let seal = seal(1, 1, later(1, 2), Claim::Lives);
        assert_eq!(after(&mut Victim::sealed(), state, seal), Some(state), "whoever passes it on");
    }
    let mut victim = Victim::sealed();
    let buried = after(&mut victim, MemberState::dead(life(1)), vec![0; 16]);
    let refuted = MemberState::alive(later(1, 2));
    assert_eq!(after(&mut victim, refuted, seal(LIAR, 1, later(1, 2), Claim::Lives)), buried, "nobody else refutes");
    let mut without = Victim::new();
    without.hear(&without.header(1), &said(vec![(1, MemberState::alive(absurd))], &[]));
    assert_eq!(without.peer.table().get(1), Some(MemberState::alive(absurd)), "without seals everybody is believed");
}

#[test]
fn a_header_announces_no_life() {
    let mut victim = Victim::sealed();
    victim.hear(&Header { incarnation: later(LIAR, 5), ..victim.header(1) }, &GossipPayload::default());
    assert_eq!(victim.peer.table().living(LIAR), Some(life(LIAR)));
    assert_eq!(victim.peer.counters().stale, 1, "the sender is told, and answers with its table");
    let own = said(vec![(LIAR, MemberState::alive(later(LIAR, 5)))], &[seal(LIAR, LIAR, later(LIAR, 5), Claim::Lives)]);
    victim.hear(&Header { incarnation: later(LIAR, 5), ..victim.header(2) }, &own);
    assert_eq!(victim.peer.table().living(LIAR), Some(later(LIAR, 5)));
    assert_eq!(victim.peer.counters().stale, 1);
}

#[test]
fn nobody_refutes_beyond_what_it_has_said_itself() {
    let mut victim = Victim::sealed();
    for state in [MemberState::dead(later(0, ABSURD)), MemberState::alive(later(0, ABSURD))] {
        victim.hear(&victim.header(1), &said(vec![(0, state)], &[seal(LIAR, 0, state.incarnation, Claim::Lives)]));
    }
    assert_eq!(victim.peer.incarnation(), life(0));
    // A life that its own disk has forgotten has its own seal.
    let forgotten = later(0, 40);
    let own = said(vec![(0, MemberState::alive(forgotten))], &[seal(0, 0, forgotten, Claim::Lives)]);
    victim.hear(&victim.header(2), &own);
    assert_eq!(victim.peer.incarnation().counter, 41);
}

#[test]
fn a_peer_is_not_made_to_refute_all_the_time() {
    let mut victim = Victim::sealed();
    let (ticks, mut lies) = (40 * victim.peer.config.policy.evict_after, 0);
    for tick in 0..ticks {
        let state = MemberState::dead(victim.peer.incarnation());
        let header = Header { to_incarnation: victim.peer.incarnation(), ..victim.header(tick + 1) };
        victim.hear(&header, &said(vec![(0, state)], &[vec![0; 16]]));
        victim.tell(Event::Tick);
        lies += 1;
    }
    let refutations = victim.peer.counters().refutations;
    assert!((2..=6).contains(&refutations), "{refutations} refutations of {lies} lies");
}

#[test]
fn a_member_that_came_back_is_not_taken_for_dead_at_once() {
    let mut victim = Victim::sealed();
    assert!(after(&mut victim, MemberState::dead(life(1)), vec![0; 16]).unwrap().dead, "the first time");
    let second = later(1, 2);
    let refuted = seal(1, 1, second, Claim::Lives);
    assert_eq!(after(&mut victim, MemberState::alive(second), refuted.clone()), Some(MemberState::alive(second)));
    for _ in 0..victim.peer.config.policy.evict_after - 1 {
        victim.hear_of_others();
        assert_eq!(after(&mut victim, MemberState::dead(second), refuted.clone()), Some(MemberState::alive(second)));
    }
    (0..2).for_each(|_| victim.hear_of_others());
    assert_eq!(after(&mut victim, MemberState::dead(second), refuted), Some(MemberState::dead(second)));
}

#[test]
fn the_rest_of_a_message_with_a_forged_seal_is_not_believed() {
    let mut victim = Victim::sealed();
    let absurd = later(1, ABSURD);
    let states = vec![(1, MemberState::alive(absurd)), (1, MemberState::dead(life(1)))];
    victim.hear(&victim.header(1), &said(states, &[vec![9; 16], vec![0; 16]]));
    assert_eq!(victim.peer.table().living(1), Some(life(1)));
    assert_eq!((victim.peer.counters().forged, victim.peer.counters().malformed), (1, 0));
}

#[test]
fn absurd_heartbeats_do_not_hide_those_that_count() {
    let mut victim = Victim::sealed();
    let patience = victim.peer.config.policy.evict_after;
    for tick in 1..3 * patience {
        let life = life(1).tag() as u32;
        let heartbeats = if tick < patience { vec![Heartbeat { node: 1, life, count: u64::MAX }] } else { Vec::new() };
        victim.hear(&victim.header(tick), &GossipPayload { heartbeats, ..GossipPayload::default() });
        victim.hear_of_others();
    }
    assert_eq!(victim.peer.counters().evictions, 0);
    // Who hears of nobody waits three times as long.
    (0..4 * patience).for_each(|_| victim.tell(Event::Tick));
    assert_eq!(victim.peer.counters().evictions, 2, "of those who say nothing any more");
}

#[test]
fn only_its_owner_says_that_an_edge_is_closed() {
    let closure = |from: u32, to: u32| EdgeClosure { from, to, life: life(from).tag(), generation: 3 };
    let sealed = |key: u32, from: u32, to: u32| seal(key, from, life(from), Claim::Closed { to, generation: 3 });
    let mut victim = Victim::sealed();
    for (number, forged) in [(1, vec![0; 16]), (2, sealed(LIAR, 1, 0)), (3, sealed(1, 1, 2))] {
        let gossip = GossipPayload { closures: vec![closure(1, 0)], seals: forged, ..GossipPayload::default() };
        victim.hear(&victim.header(number), &gossip);
        assert_eq!((victim.peer.its_generation(1), victim.peer.membership.closures()), (0, vec![]));
    }
    let gossip = GossipPayload { closures: vec![closure(1, 0)], seals: sealed(1, 1, 0), ..GossipPayload::default() };
    victim.hear(&victim.header(4), &gossip);
    assert_eq!((victim.peer.its_generation(1), victim.peer.membership.closures()), (3, vec![closure(1, 0)]));
}

#[test]
fn a_departure_that_is_passed_on_is_told_from_a_death() {
    let mut victim = Victim::sealed();
    after(&mut victim, MemberState::dead(life(1)), seal(LIAR, 1, life(1), Claim::Left));
    assert!(victim.peer.table().get(1).unwrap().dead && !victim.peer.has_left(1), "anybody may say that it is dead");
    let left = seal(1, 1, life(1), Claim::Left);
    after(&mut victim, MemberState::dead(life(1)), left.clone());
    assert!(victim.peer.has_left(1));
    victim.tell(Event::Tick);
    let gossip = victim.peer.membership.gossip(1, Some(3), victim.peer.clock.now(), || unreachable!());
    assert_eq!(gossip.seals[16..32], left, "and it is passed on as one");
}

#[test]
fn a_receipt_of_what_was_never_sent_does_not_count() {
    let mut victim = Victim::sealed();
    let carried = Carried::Refused;
    let (by_life, life) = (life(1).tag() as u32, life(0).tag() as u32);
    let last = victim.peer.exchange.sequence();
    for (number, sequence, settled) in [(1, ABSURD, true), (2, last, false)] {
        let receipts = vec![Receipt { by: 1, by_life, from: 0, life, carried, sequence }];
        victim.hear(&victim.header(number), &GossipPayload { receipts, ..GossipPayload::default() });
        let Peer { exchange, format, .. } = &mut victim.peer;
        assert_eq!(exchange.unapplied_mut(1, format).is_settled(), settled, "message {sequence} is refused");
    }
}

/// Sealed peers whose records are safe at once: they find each other without a roster.
fn together(nodes: usize, ticks: usize) -> Vec<Peer<f64>> {
    let configs = configs(nodes, true, Complete::new);
    let peer = |config: &crate::peer::PeerConfig<f64>| {
        Peer::sealed(config.clone(), Arc::new(Keyed(config.node)), life(config.node), 0, None)
    };
    let mut peers: Vec<Peer<f64>> = configs.iter().map(peer).collect();
    let mut events: Vec<(usize, Event)> =
        (0..nodes).map(|node| (node, Event::Stored { ticket: 0, safe: true })).collect();
    for _ in 0..ticks {
        events.extend((0..nodes).map(|node| (node, Event::Tick)));
        while let Some((node, event)) = events.pop() {
            let mut effects = Vec::new();
            peers[node].handle(event, &mut effects);
            events.extend(effects.into_iter().map(|effect| match effect {
                crate::peer::Effect::Send { to, bytes } => (to as usize, Event::Message(bytes)),
                crate::peer::Effect::Store { ticket, .. } => (node, Event::Stored { ticket, safe: true }),
            }));
        }
    }
    peers
}

#[test]
fn sealed_peers_find_each_other_and_keep_the_seals_of_all_in_a_snapshot() {
    let mut peers = together(4, 40);
    let all = Table::of_living(4, (0..4).map(|node| (node, life(node))));
    assert!(peers.iter().all(|peer| *peer.table() == all && peer.counters().forged == 0));
    peers[0].close(1);
    let (config, state) = (peers[0].config.clone(), peers[0].save());
    let resumed = Peer::resume_sealed(config.clone(), Arc::new(Keyed(0)), &state).unwrap();
    let seals = |peer: &Peer<f64>| peer.membership.seals(&peer.membership.closures());
    assert_eq!((seals(&resumed).len(), seals(&resumed)), (5 * 16, seals(&peers[0])));
    assert_eq!(resumed.ledger(), peers[0].ledger());
    assert!(Peer::resume(config, &state).is_err(), "a state with seals is none of a run without them");
}

#[test]
fn a_message_with_seals_is_read_without_them_by_others() {
    let victim = Victim::sealed();
    let states = vec![(0, MemberState::alive(life(0))), (1, MemberState::dead(life(1)))];
    let closures = vec![EdgeClosure { from: 0, to: 1, life: 3, generation: 4 }];
    let gossip = GossipPayload { states, closures, seals: (0..48).collect(), ..GossipPayload::default() };
    let write = |gossip: &GossipPayload| {
        let header = Header { contents: Contents::default(), ..victim.header(1) };
        in_full::<f64>(&victim.peer.format, &header, gossip, (&[], &[]))
    };
    let bytes = write(&gossip);
    let read = victim.peer.format.read::<f64>(&bytes).unwrap().control;
    assert_eq!(read.life_seals().take(2).collect::<Vec<_>>().concat(), (0..32).collect::<Vec<u8>>());
    assert_eq!(read.closure_seals().next().unwrap(), (32..48).collect::<Vec<u8>>());
    let other = Victim::new().peer.format.read::<f64>(&bytes).map(|message| message.control);
    assert_eq!(other.as_ref().map(|control| control.member_states().count()), Ok(2));
    assert!(other.unwrap().life_seals().take(2).all(<[u8]>::is_empty));
    for length in [1, 32, 47, 49, 64] {
        let bytes = write(&GossipPayload { seals: vec![1; length], ..gossip.clone() });
        assert!(victim.peer.format.read::<f64>(&bytes).is_err(), "{length} bytes of seals");
    }
    assert!(bytes.len() <= victim.peer.format.longest(8));
}

#[test]
fn who_was_expelled_stays_dead_in_every_life() {
    for mut victim in [Victim::new(), Victim::sealed()] {
        victim.tell(Event::Command(Command::Expel(LIAR)));
        assert_eq!(victim.peer.table().get(LIAR), Some(MemberState::dead(life(LIAR))));
        let second = later(LIAR, 2);
        let gossip = || {
            let seals = [seal(LIAR, LIAR, second, Claim::Lives)];
            let seals = if victim.peer.membership.is_sealed() { &seals[..] } else { &[] };
            said(vec![(LIAR, MemberState::alive(second))], seals)
        };
        let (own, passed_on) = (gossip(), gossip());
        victim.hear(&Header { incarnation: second, ..victim.header(1) }, &own);
        assert_eq!(victim.peer.table().get(LIAR), Some(MemberState::dead(life(LIAR))), "it says so itself");
        assert_eq!(victim.peer.counters().expelled, 1);
        victim.hear(&Header { from: 1, incarnation: life(1), ..victim.header(1) }, &passed_on);
        assert_eq!(victim.peer.table().get(LIAR), Some(MemberState::dead(second)), "another one passes it on");
        victim.tell(Event::Command(Command::Readmit(LIAR)));
        let third = later(LIAR, 3);
        let seals = [seal(LIAR, LIAR, third, Claim::Lives)];
        let seals = if victim.peer.membership.is_sealed() { &seals[..] } else { &[] };
        let back = said(vec![(LIAR, MemberState::alive(third))], seals);
        victim.hear(&Header { incarnation: third, ..victim.header(2) }, &back);
        assert_eq!(victim.peer.table().living(LIAR), Some(third), "it was readmitted");
    }
}

#[test]
fn no_peer_expels_itself() {
    let mut victim = Victim::new();
    victim.tell(Event::Command(Command::Expel(0)));
    assert_eq!(victim.peer.table().living(0), Some(life(0)));
}
