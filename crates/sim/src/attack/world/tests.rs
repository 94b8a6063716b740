//! Tests of what the world does with events, effects and nodes.

use super::*;
use crate::attack::fixture::calm_scenario;

/// Three nodes, of which all have started and stored their incarnations.
fn cluster(exact: bool) -> World {
    let mut world = World::new(&calm_scenario(3, exact), true);
    for node in 0..3 {
        world.start(node, 0).unwrap();
        world.complete_write(node, 1).unwrap();
    }
    world
}

/// Carries out what is scheduled within some ticks.
fn run_for(world: &mut World, ticks: u64) -> Check {
    let end = world.queue.now() + ticks * TICK;
    while let Some(event) = world.queue.next_until(end) {
        match event {
            Scheduled::Tick { node, boot } => world.tick(node, boot)?,
            Scheduled::Deliver { to, bytes } => world.deliver(to, bytes)?,
            Scheduled::Write { node, boot } => world.complete_write(node, boot)?,
            Scheduled::Start { node, boot } => world.start(node, boot)?,
            Scheduled::Inject(fault) => panic!("{fault} without a rate"),
            Scheduled::Expel { node, liar } => world.tell_of(node, liar)?,
        }
    }
    Ok(())
}

fn rounds(world: &World, node: usize) -> u64 {
    world.running()[node].counters().rounds
}

#[test]
fn nodes_tick_steadily_and_stragglers_hardly_ever() {
    let mut world = cluster(false);
    world.node(2).impairments.straggling = u64::MAX;
    run_for(&mut world, 50).unwrap();
    assert!((48..=50).contains(&rounds(&world, 0)), "{} rounds in 50 ticks", rounds(&world, 0));
    assert!(rounds(&world, 2) <= 1);
}

#[test]
fn a_paused_node_goes_on_when_the_pause_is_over() {
    let mut world = cluster(false);
    world.node(1).impairments.pause = 40 * TICK;
    run_for(&mut world, 39).unwrap();
    assert_eq!(rounds(&world, 1), 0);
    run_for(&mut world, 11).unwrap();
    assert!((9..=11).contains(&rounds(&world, 1)));
}

#[test]
fn a_deaf_node_misses_messages_and_a_slow_one_takes_them_later() {
    let mut world = cluster(false);
    let malformed = |world: &World| world.running()[0].counters().malformed;
    world.node(0).impairments.deafness = 5;
    world.deliver(0, vec![1, 2, 3]).unwrap();
    run_for(&mut world, 1).unwrap();
    assert_eq!(malformed(&world), 0);
    world.node(0).impairments.slowness = 3 * TICK;
    world.deliver(0, vec![1, 2, 3]).unwrap();
    assert_eq!(malformed(&world), 0);
    run_for(&mut world, 3).unwrap();
    assert_eq!(malformed(&world), 1);
}

#[test]
fn events_of_an_earlier_start_come_to_nothing() {
    let mut world = cluster(false);
    assert!(world.stop(1) && !world.stop(1));
    world.tick(1, 1).unwrap();
    world.start(1, 1).unwrap();
    assert!(world.node(1).peer.is_none(), "the node has stopped since");
    world.start(1, 2).unwrap();
    assert_eq!((world.running().len(), world.node(1).boot), (3, 3));
    let pending = world.queue.pending().count();
    world.tick(1, 1).unwrap();
    assert_eq!(world.queue.pending().count(), pending, "a clock of an earlier start must not tick on");
}

#[test]
fn a_node_starts_in_a_newer_incarnation_at_its_checkpoint() {
    let mut world = cluster(false);
    run_for(&mut world, 60).unwrap();
    let before = world.running()[1].incarnation();
    let all_rounds = world.peer_rounds();
    world.stop(1);
    let boot = world.node(1).boot;
    world.start(1, boot).unwrap();
    let peer = world.running()[1];
    assert!(peer.incarnation() > before && (40..=60).contains(&peer.round()), "round {}", peer.round());
    assert_eq!(world.peer_rounds(), all_rounds, "rounds of the stopped peer still count");
}

#[test]
fn an_exact_node_goes_on_in_the_same_incarnation() {
    let mut world = cluster(true);
    run_for(&mut world, 30).unwrap();
    let before = (world.running()[1].incarnation(), world.running()[1].round());
    world.stop(1);
    let boot = world.node(1).boot;
    world.start(1, boot).unwrap();
    let peer = world.running()[1];
    assert_eq!(peer.incarnation(), before.0);
    assert!(before.1 - peer.round() <= 2, "the state is at most a write behind");
}

#[test]
fn an_exact_node_may_go_on_from_an_older_state() {
    let mut world = cluster(true);
    run_for(&mut world, 30).unwrap();
    let old = world.node(1).disk.clone();
    run_for(&mut world, 30).unwrap();
    world.stop(1);
    world.node(1).disk = old;
    let boot = world.node(1).boot;
    world.start(1, boot).unwrap();
    assert!(world.running()[1].round() < 40, "round {}", world.running()[1].round());
}

#[test]
fn a_full_disk_stores_nothing_and_the_peer_does_not_send() {
    let mut world = World::new(&calm_scenario(3, false), false);
    world.node(0).impairments.full_disk = u64::MAX;
    world.start(0, 0).unwrap();
    run_for(&mut world, 20).unwrap();
    assert_eq!(world.node(0).disk.incarnation, None);
    assert_eq!(world.running()[0].counters().messages, 0);
}

#[test]
fn a_message_before_its_incarnation_is_stored_is_a_violation() {
    let mut world = cluster(false);
    run_for(&mut world, 10).unwrap();
    world.node(2).disk.incarnation = None;
    assert_eq!(run_for(&mut world, 5), Err(Violation::SendsBeforeIncarnation { node: 2 }));
}

#[test]
fn a_message_before_its_state_is_stored_is_a_violation() {
    let mut world = cluster(true);
    run_for(&mut world, 10).unwrap();
    // The header of a message with mass (flags in byte 6) and a number that is far ahead (byte 72).
    let mut message = vec![0; 128];
    (message[6], message[72]) = (2, 200);
    let peer = world.node(0).peer.take().unwrap();
    let check = world.check_stored_before_sent(&peer, WireMessage(&message));
    assert_eq!(check, Err(Violation::SendsBeforeState { node: 0 }));
    world.scenario.exact = false;
    assert_eq!(world.check_stored_before_sent(&peer, WireMessage(&message)), Ok(()));
}

#[test]
fn the_log_tells_of_starts_stops_and_epochs() {
    let mut world = cluster(false);
    world.tell(0, Event::Command(fabnet_core::peer::Command::Restart)).unwrap();
    world.stop(1);
    let lines = world.log.into_lines().join("\n");
    assert!(lines.contains("node 2 starts in life") && lines.contains("node 0 enters epoch 1"), "{lines}");
    assert!(lines.contains("node 1 stops"), "{lines}");
}
