//! Tests of the phases of a simulation.

use super::*;
use crate::attack::fault::{ByFault, Fault};
use crate::attack::happening::Scene;
use crate::attack::network::FOR_EVER;

/// A simulation of five nodes without any fault, in which all have started.
fn started(network: NetworkKind) -> Simulation<'static> {
    let scenario = Scenario { nodes: 5, network, rates: ByFault::default(), ..Scenario::named("calm", 3).unwrap() };
    let mut simulation = Simulation::new(&scenario, true);
    schedule(&mut simulation.world);
    simulation.run_for(10).unwrap();
    assert_eq!(simulation.world.running().len(), 5);
    simulation
}

#[test]
fn time_passes_although_nothing_happens() {
    let mut simulation = Simulation::new(&Scenario::named("calm", 3).unwrap(), false);
    simulation.run_for(7).unwrap();
    assert_eq!((simulation.world.queue.now(), simulation.world.queue.happened()), (7 * TICK, 0));
    assert_eq!(simulation.ticks_since(2 * TICK), 5);
}

#[test]
fn healing_ends_impairments_and_cuts_but_not_dead_links() {
    let mut simulation = started(NetworkKind::Complete);
    let world = &mut simulation.world;
    world.node(1).impairments.deafness = u64::MAX;
    world.network.cut(0, 1, FOR_EVER - 1);
    world.network.cut(2, 3, FOR_EVER);
    simulation.heal().unwrap();
    let world = &mut simulation.world;
    assert_eq!(world.node(1).impairments, Impairments::default());
    assert!(world.sampler.is_calm() && world.network.connects(&[0, 1]));
    assert_eq!((world.network.dead_links(), world.network.connects(&[2, 3])), (1, false));
}

#[test]
fn dead_links_are_repaired_if_they_disconnect_the_survivors() {
    let mut simulation = started(NetworkKind::Complete);
    (1..5).for_each(|to| simulation.world.network.cut(0, to, FOR_EVER));
    simulation.heal().unwrap();
    assert_eq!(simulation.world.network.dead_links(), 0);
}

#[test]
fn nodes_that_are_down_come_back_or_are_gone_for_good() {
    let mut simulation = started(NetworkKind::Complete);
    (0..5).for_each(|node| assert!(simulation.world.stop(node)));
    simulation.heal().unwrap();
    let gone = simulation.world.nodes.iter().filter(|node| node.absent).count();
    simulation.run_for(1).unwrap();
    assert_eq!(simulation.world.running().len() + gone, 5);
    assert_eq!(simulation.world.nodes.iter().filter(|node| node.is_down()).count(), 0);
}

#[test]
fn with_given_links_everybody_comes_back() {
    let mut simulation = started(NetworkKind::Contacts);
    (0..5).for_each(|node| assert!(simulation.world.stop(node)));
    simulation.heal().unwrap();
    simulation.run_for(1).unwrap();
    assert_eq!(simulation.world.running().len(), 5);
}

#[test]
fn a_calm_cluster_settles_drains_and_converges() {
    let mut simulation = started(NetworkKind::Exponential);
    simulation.heal().unwrap();
    simulation.settle().unwrap();
    simulation.drain().unwrap();
    simulation.converge().unwrap();
    assert!(simulation.settled_after.is_some_and(|ticks| ticks < 200), "{:?}", simulation.settled_after);
    assert!(simulation.converged_after.is_some_and(|ticks| ticks > 0));
    assert!(simulation.distance() <= Simulation::CONVERGED);
}

#[test]
fn a_cluster_does_not_settle_without_a_node_that_should_run() {
    let mut simulation = started(NetworkKind::Complete);
    simulation.world.sampler.calm_down();
    simulation.world.stop(3);
    assert_eq!(simulation.settle(), Err(Violation::NotSettled(Disagreement::NotStarted)));
    assert!(simulation.ticks_since(0) > Simulation::SETTLE_LIMIT);
}

#[test]
fn members_that_cannot_talk_do_not_settle() {
    let mut simulation = started(NetworkKind::Complete);
    simulation.world.sampler.calm_down();
    let pairs = (0..5).flat_map(|from| (0..5).map(move |to| (from, to)));
    pairs.for_each(|(from, to)| simulation.world.network.cut(from, to, FOR_EVER));
    // Long enough that everybody takes everybody else for dead.
    simulation.run_for(500).unwrap();
    let check = simulation.settle();
    assert!(matches!(check, Err(Violation::NotSettled(Disagreement::WrongMembers(0)))), "{check:?}");
}

#[test]
fn the_outcome_tells_what_has_happened() {
    let mut scenario = Scenario::named("calm", 3).unwrap();
    scenario.rates[Fault::Loss] = 0.3;
    let outcome = simulate(&scenario, true, None);
    assert_eq!(outcome.violation, None);
    assert!(outcome.faults[Fault::Loss] > 0 && outcome.events > 0 && outcome.peer_rounds > 0 && outcome.trace != 0);
    assert!(outcome.converged_after.is_some() && !outcome.log.is_empty());
    let quiet = simulate(&scenario, false, None);
    assert_eq!((quiet.trace, quiet.events, quiet.log.len()), (outcome.trace, outcome.events, 0));
}

/// Counts what it sees.
#[derive(Default)]
struct Counting {
    happenings: Vec<Happening>,
    scenes: usize,
    running: usize,
    last: f64,
}

impl Spectator for Counting {
    fn happened(&mut self, happening: Happening) {
        assert!(happening.tick >= self.last, "{happening}");
        self.happenings.push(happening);
    }

    fn sees(&mut self, scene: Scene<'_>) {
        assert!(scene.tick > self.last);
        self.last = scene.tick;
        self.scenes += 1;
        self.running = scene.peers.iter().flatten().count();
        let known = scene.distances.iter().flatten().count();
        assert_eq!((scene.peers.len(), known), (scene.distances.len(), self.running));
    }
}

#[test]
fn a_spectator_sees_everything_and_changes_nothing() {
    let scenario = Scenario::from_seed(2);
    let (mut spectator, quiet) = (Counting::default(), simulate(&scenario, false, None));
    let outcome = simulate(&scenario, false, Some(&mut spectator));
    assert_eq!((outcome.trace, outcome.events, outcome.violation), (quiet.trace, quiet.events, quiet.violation));
    assert!(spectator.scenes as u64 > scenario.chaos && spectator.running > 0);
    let count = |kind: &str| spectator.happenings.iter().filter(|happening| happening.kind == kind).count() as u64;
    assert!(count("start") >= scenario.nodes as u64, "{:?}", spectator.happenings);
    let partitions = spectator.happenings.iter().filter(|happening| happening.text.contains("partition"));
    assert!(partitions.clone().all(|happening| happening.until > Some(happening.tick)));
    assert!(count("fault") > 0 && count("fault") <= Fault::ALL.iter().map(|&fault| outcome.faults[fault]).sum::<u64>());
}
