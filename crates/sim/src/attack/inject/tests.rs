//! Tests of faults, each injected into a small cluster that runs.

use super::*;
use crate::attack::fault::ByFault;
use crate::attack::node::Impairments;
use crate::attack::scenario::{NetworkKind, Scenario};

/// A cluster of eight nodes, all of which have started, without faults of messages.
fn cluster() -> World {
    let scenario = Scenario {
        nodes: 8,
        network: NetworkKind::Complete,
        rates: ByFault::default(),
        exact: false,
        ..Scenario::from_seed(5)
    };
    let mut world = World::new(&scenario, true);
    (0..8).for_each(|node| world.start(node, 0).unwrap());
    world
}

/// The starts that are scheduled, by node.
fn starts(world: &World) -> Vec<u32> {
    let start = |(_, event): (u64, &Scheduled)| match event {
        Scheduled::Start { node, .. } => Some(*node),
        _ => None,
    };
    world.queue.pending().filter_map(start).collect()
}

/// The nodes that do not run.
fn down(world: &World) -> Vec<u32> {
    (0..).zip(&world.nodes).filter(|(_, node)| node.peer.is_none()).map(|(node, _)| node).collect()
}

#[test]
fn nodes_start_soon_and_faults_come_at_random_times() {
    let mut scenario = Scenario { nodes: 4, rates: ByFault::default(), ..Scenario::from_seed(5) };
    (scenario.rates[Fault::Crash], scenario.rates[Fault::Leave]) = (1.0, 0.3);
    let mut world = World::new(&scenario, false);
    schedule(&mut world);
    let count = |wanted: &Scheduled| world.queue.pending().filter(|(_, event)| *event == wanted).count();
    assert_eq!((count(&Scheduled::Inject(Fault::Crash)), count(&Scheduled::Inject(Fault::Leave))), (4, 2));
    assert!(world.queue.pending().all(|(time, _)| time < scenario.chaos * TICK));
    for node in 0..4 {
        let start = Scheduled::Start { node, boot: 0 };
        let (time, _) = world.queue.pending().find(|(_, event)| **event == start).unwrap();
        assert!(time < 8, "without late joins all nodes start at once");
    }
}

#[test]
fn late_joins_are_counted_and_never_concern_the_first_two() {
    for seed in 0..20 {
        let mut scenario = Scenario { nodes: 16, rates: ByFault::default(), ..Scenario::from_seed(seed) };
        scenario.rates[Fault::Join] = 1.0;
        let mut world = World::new(&scenario, false);
        schedule(&mut world);
        let late = |node: u32| {
            let start = Scheduled::Start { node, boot: 0 };
            world.queue.pending().any(|(time, event)| *event == start && time >= 8)
        };
        let joined = (0..16).filter(|&node| late(node)).count() as u64;
        assert!(joined <= world.sampler.counts()[Fault::Join] && world.sampler.counts()[Fault::Join] < 14);
        assert!(!late(0) && !late(1), "seed {seed}");
    }
}

#[test]
fn a_crash_stops_one_node_for_a_while() {
    let mut world = cluster();
    inject(&mut world, Fault::Crash).unwrap();
    assert_eq!((down(&world).len(), world.sampler.counts()[Fault::Crash]), (1, 1));
    assert_eq!(starts(&world), down(&world));
}

#[test]
fn only_a_lost_disk_is_empty_after_a_crash() {
    for (fault, lost) in [(Fault::Crash, false), (Fault::LostDisk, true)] {
        let mut world = cluster();
        for node in 0..8 {
            let boot = world.node(node).boot;
            world.complete_write(node, boot).unwrap();
        }
        inject(&mut world, fault).unwrap();
        let node = down(&world)[0];
        assert_eq!(world.node(node).disk.incarnation.is_none(), lost, "{fault}");
    }
}

#[test]
fn an_exodus_leaves_two() {
    let mut world = cluster();
    inject(&mut world, Fault::Exodus).unwrap();
    assert_eq!(down(&world), [2, 3, 4, 5, 6, 7]);
    assert!(starts(&world).is_empty(), "they come back when faults end, or never");
}

#[test]
fn a_node_that_leaves_is_absent_and_one_that_is_replaced_starts_again() {
    let mut world = cluster();
    inject(&mut world, Fault::Leave).unwrap();
    let gone = down(&world)[0];
    assert!(world.node(gone).absent && starts(&world).is_empty());
    let mut world = cluster();
    inject(&mut world, Fault::Replace).unwrap();
    let gone = down(&world)[0];
    assert!(!world.node(gone).absent && world.node(gone).disk.incarnation.is_none());
    assert_eq!(starts(&world), [gone]);
}

#[test]
fn one_member_lies_at_most_and_is_expelled_in_the_end() {
    let mut world = cluster();
    (0..20).for_each(|_| inject(&mut world, Fault::Liar).unwrap());
    let liars: Vec<usize> = (0..8).filter(|&node| world.nodes[node].lies).collect();
    assert_eq!((liars.len(), world.sampler.counts()[Fault::Liar]), (1, 1));
    assert!(liars[0] >= FOUNDERS as usize);
    let others = world.running().len() - 1;
    assert!(world.expel_liars());
    (0..8).for_each(|node| world.tell_of(node, liars[0] as u32).unwrap());
    assert!(world.nodes[liars[0]].absent && world.nodes[liars[0]].peer.is_some(), "it goes on");
    assert_eq!(world.running().len(), others);
    assert!(world.running().iter().all(|peer| peer.table().living(liars[0] as u32).is_none()));
}

#[test]
fn the_last_two_do_not_leave() {
    let mut world = cluster();
    (2..8).for_each(|node| assert!(world.stop(node)));
    (0..20).for_each(|_| inject(&mut world, Fault::Leave).unwrap());
    assert_eq!((world.running().len(), world.sampler.counts()[Fault::Leave]), (2, 0));
}

#[test]
fn a_quarter_of_the_links_at_most_is_dead() {
    let mut world = cluster();
    (0..20).for_each(|_| inject(&mut world, Fault::DeadLink).unwrap());
    assert_eq!((world.network.dead_links(), world.sampler.counts()[Fault::DeadLink]), (2, 2));
}

#[test]
fn partitions_cut_one_way_or_both() {
    for fault in [Fault::Partition, Fault::OneWayPartition] {
        let mut world = cluster();
        inject(&mut world, fault).unwrap();
        assert!(!world.network.connects(&[0, 1, 2, 3, 4, 5, 6, 7]), "{fault}");
        let pairs = (0..8).flat_map(|one| (0..one).map(move |other| [one, other]));
        let both_ways = pairs.filter(|pair| !world.network.connects(pair)).count();
        assert!(both_ways >= 7, "{fault}: {both_ways} pairs are apart");
    }
}

#[test]
fn impairments_last_for_a_while() {
    for fault in [Fault::Deaf, Fault::FullDisk, Fault::Pause, Fault::Straggler, Fault::SlowReceiver] {
        let mut world = cluster();
        inject(&mut world, fault).unwrap();
        let impaired: Vec<_> =
            world.nodes.iter().map(|node| node.impairments).filter(|one| *one != Impairments::default()).collect();
        let [one] = impaired[..] else { panic!("{fault}: {impaired:?}") };
        let until = one.pause.max(one.deafness).max(one.slowness).max(one.full_disk).max(one.straggling);
        assert!((TICK..=301 * TICK).contains(&until), "{fault} until {until}");
    }
}

#[test]
fn a_new_epoch_begins_at_the_node_that_was_told() {
    let mut world = cluster();
    // Peers listen to commands once their incarnations are stored.
    for node in 0..8 {
        let boot = world.node(node).boot;
        world.complete_write(node, boot).unwrap();
    }
    inject(&mut world, Fault::EpochBump).unwrap();
    assert_eq!(world.running().iter().filter(|peer| peer.epoch() > 0).count(), 1);
}

#[test]
fn faults_of_messages_are_not_injected_here() {
    let mut world = cluster();
    for fault in [Fault::Loss, Fault::Corrupt, Fault::BitRot, Fault::Join] {
        inject(&mut world, fault).unwrap();
        assert_eq!(world.sampler.counts()[fault], 0, "{fault}");
    }
}

#[test]
fn nothing_is_injected_in_the_calm() {
    let mut world = cluster();
    world.sampler.calm_down();
    for fault in Fault::ALL {
        inject(&mut world, fault).unwrap();
    }
    assert_eq!(world.sampler.counts(), ByFault::default());
    assert!(down(&world).is_empty() && world.network.dead_links() == 0);
}
