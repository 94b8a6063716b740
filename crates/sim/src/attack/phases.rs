//! The course of a simulation: chaos, then calm, in which everything must come right again.

use super::happening::{Happening, Spectator};
use super::inject::{inject, schedule};
use super::node::{Impairments, Node};
use super::outcome::Outcome;
use super::queue::{Scheduled, TICK};
use super::scenario::{NetworkKind, Scenario};
use super::settlement::{Disagreement, check_settled, mass_imbalance};
use super::violation::{Check, Violation};
use super::world::World;

/// Carries a scenario out, with somebody who follows it or with a readable log, if asked for.
pub(super) fn simulate(scenario: &Scenario, readable_log: bool, spectator: Option<&mut dyn Spectator>) -> Outcome {
    let mut simulation = Simulation::new(scenario, readable_log || spectator.is_some());
    simulation.spectator = spectator;
    let violation = simulation.run().err();
    let Simulation { world, settled_after, converged_after, .. } = simulation;
    Outcome {
        violation: violation.map(|violation| violation.to_string()),
        faults: world.sampler.counts(),
        peer_rounds: world.peer_rounds(),
        trace: world.log.trace(),
        events: world.queue.happened(),
        settled_after,
        converged_after,
        log: world.log.into_lines(),
    }
}

/// A cluster on its way through the phases, with the times that they took, in ticks.
struct Simulation<'s> {
    world: World,
    spectator: Option<&'s mut dyn Spectator>,
    settled_after: Option<u64>,
    converged_after: Option<u64>,
}

impl Simulation<'_> {
    /// Ticks between two looks at whether peers have settled, or edges are drained.
    const LOOK_EVERY: u64 = 20;
    /// Ticks after the last fault within which peers must have settled.
    const SETTLE_LIMIT: u64 = 20_000;
    /// Ticks between two looks at the distance to the solution.
    const DISTANCE_EVERY: u64 = 50;
    /// Rounds within which peers must have converged.
    const CONVERGE_LIMIT: u64 = 60_000;
    /// The largest distance to the solution of peers that have converged.
    const CONVERGED: f64 = 1e-6;

    fn new(scenario: &Scenario, readable_log: bool) -> Self {
        let world = World::new(scenario, readable_log);
        Self { world, spectator: None, settled_after: None, converged_after: None }
    }

    fn run(&mut self) -> Check {
        schedule(&mut self.world);
        self.run_for(self.world.scenario.chaos)?;
        self.heal()?;
        self.settle()?;
        self.drain()?;
        if self.world.scenario.converge {
            self.converge()?;
        }
        Ok(())
    }

    /// Lets everything happen that is due within this many ticks. A spectator sees it, tick by tick
    /// as long as there are faults.
    fn run_for(&mut self, ticks: u64) -> Check {
        if self.spectator.is_none() {
            return self.happen_for(ticks);
        }
        let ticks_at_once = if self.world.sampler.is_calm() { ticks.max(1) } else { 1 };
        for _ in 0..ticks.div_ceil(ticks_at_once) {
            let check = self.happen_for(ticks_at_once);
            if let Some(spectator) = &mut self.spectator {
                self.world.log.take().into_iter().for_each(|happening| spectator.happened(happening));
                spectator.sees(self.world.scene());
            }
            check?;
        }
        Ok(())
    }

    fn happen_for(&mut self, ticks: u64) -> Check {
        let world = &mut self.world;
        let end = world.queue.now() + ticks * TICK;
        while let Some(event) = world.queue.next_until(end) {
            match event {
                Scheduled::Start { node, boot } => world.start(node, boot),
                Scheduled::Inject(fault) => inject(world, fault),
                Scheduled::Tick { node, boot } => world.tick(node, boot),
                Scheduled::Deliver { to, bytes } => world.deliver(to, bytes),
                Scheduled::Write { node, boot } => world.complete_write(node, boot),
                Scheduled::Expel { node, liar } => world.tell_of(node, liar),
            }?;
        }
        Ok(())
    }

    /// Ends all faults but those of single messages and writes, and dead links. Nodes that are down
    /// come back or are gone for good, at random.
    fn heal(&mut self) -> Check {
        let world = &mut self.world;
        world.sampler.calm_down();
        world.network.repair();
        let expels = world.expel_liars();
        // A ring of given links breaks if anybody is missing.
        let all_needed = world.scenario.network == NetworkKind::Contacts;
        for (number, node) in (0..).zip(&mut world.nodes) {
            node.impairments = Impairments::default();
            let comes_back = world.sampler.below(2) == 0 || all_needed;
            if node.is_down() && comes_back {
                world.queue.schedule(1, Scheduled::Start { node: number, boot: node.boot });
            } else if node.is_down() {
                node.absent = true;
            }
        }
        let remaining = (0..).zip(&world.nodes).filter(|(_, node)| !node.absent).map(|(number, _)| number);
        if !world.network.connects(&remaining.collect::<Vec<u32>>()) {
            world.network.repair_all();
        }
        // Until all have heard of it, some hold mass of the liar.
        if expels { self.run_for(World::EXPELLED_WITHIN) } else { Ok(()) }
    }

    /// Waits until all peers agree, and checks that no mass was lost.
    fn settle(&mut self) -> Check {
        let start = self.world.queue.now();
        while let Err(disagreement) = self.check_settled() {
            if self.ticks_since(start) > Self::SETTLE_LIMIT {
                return Err(Violation::NotSettled(disagreement));
            }
            self.run_for(Self::LOOK_EVERY)?;
        }
        self.settled_after = Some(self.ticks_since(start));
        let imbalance = mass_imbalance(&self.world.running());
        if imbalance == 0 { Ok(()) } else { Err(Violation::MissingMass(imbalance)) }
    }

    fn check_settled(&self) -> Result<(), Disagreement> {
        if self.world.nodes.iter().any(Node::is_down) {
            return Err(Disagreement::NotStarted);
        }
        check_settled(&self.world.running())
    }

    /// Waits until every edge has brought what was sent over it, also edges that the schedule no
    /// longer uses. The limit is generous: every edge has many turns within it.
    fn drain(&mut self) -> Check {
        let start = self.world.queue.now();
        let limit = (200 + 40 * self.world.scenario.nodes as u64) * self.world.scenario.ticks_per_round();
        loop {
            self.run_for(Self::LOOK_EVERY)?;
            let check = self.world.checker.check_drained(&self.world.running(), start);
            if check.is_ok() || self.ticks_since(start) > limit {
                return check;
            }
        }
    }

    /// Waits until every peer is at the solution of the peers that run.
    fn converge(&mut self) -> Check {
        let start = self.world.queue.now();
        let limit = Self::CONVERGE_LIMIT * self.world.scenario.ticks_per_round();
        let mut distance = self.distance();
        while distance > Self::CONVERGED {
            if self.ticks_since(start) > limit {
                return Err(Violation::NotConverged(distance));
            }
            self.run_for(Self::DISTANCE_EVERY)?;
            distance = self.distance();
            self.world.note(|| Happening::new("distance", format!("{distance:.3e} away from the solution")));
        }
        self.converged_after = Some(self.ticks_since(start));
        Ok(())
    }

    fn distance(&self) -> f64 {
        self.world.factory.distance_to_solution(&self.world.running())
    }

    fn ticks_since(&self, start: u64) -> u64 {
        (self.world.queue.now() - start) / TICK
    }
}

#[cfg(test)]
mod tests;
