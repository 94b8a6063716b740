//! Simulations of many seeds, in parallel.

use std::ops::Range;
use std::panic::catch_unwind;

use rayon::prelude::*;

use super::fault::ByFault;
use super::happening::Spectator;
use super::outcome::Outcome;
use super::phases::simulate;
use super::scenario::Scenario;

/// The results of the simulations of many seeds, added up.
#[derive(Clone, Debug, Default)]
pub struct SeedSweep {
    /// The number of seeds that were run.
    pub seeds: u64,
    /// The seeds with a violation, each with as few faults as it still needs.
    pub failures: Vec<Failure>,
    /// The number of times that each fault happened.
    pub faults: ByFault<u64>,
    /// Rounds of all peers together.
    pub peer_rounds: u64,
    /// The number of events of the longest simulation, and its seed.
    pub longest: (u64, u64),
    /// The number of seeds that were run until the solution, and the longest time that this took,
    /// in ticks.
    pub converged: (u64, u64),
    /// The traces of all seeds as one number, which does not depend on their order.
    pub trace: u64,
}

/// A seed whose simulation violates an invariant.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The scenario of the seed, without the faults that the violation does not need.
    pub scenario: Scenario,
    /// How the reduced scenario went, with its log.
    pub outcome: Outcome,
}

impl SeedSweep {
    /// Runs the scenarios of these seeds on the threads of the current pool. No seed is begun once
    /// `goes_on` says no; `done` is called after each.
    pub fn run(
        seeds: Range<u64>,
        scenario: impl Fn(u64) -> Scenario + Sync,
        goes_on: impl Fn() -> bool + Sync,
        done: impl Fn() + Sync,
    ) -> Self {
        let one = |seed: u64| {
            if !goes_on() {
                return Self::default();
            }
            let scenario = scenario(seed);
            let outcome = run(&scenario, false);
            done();
            Self::of(scenario, outcome)
        };
        seeds.into_par_iter().map(one).reduce(Self::default, Self::and)
    }

    fn of(scenario: Scenario, outcome: Outcome) -> Self {
        // Multiplied by it, seeds differ in all bits: two that swap their traces are noticed.
        const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
        let seed = scenario.seed;
        Self {
            seeds: 1,
            faults: outcome.faults,
            peer_rounds: outcome.peer_rounds,
            longest: (outcome.events, seed),
            converged: (u64::from(outcome.converged_after.is_some()), outcome.converged_after.unwrap_or(0)),
            trace: outcome.trace ^ seed.wrapping_mul(GOLDEN_RATIO),
            failures: outcome.violation.iter().map(|_| shrink(&scenario)).collect(),
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.seeds += other.seeds;
        self.failures.extend(other.failures);
        self.faults += other.faults;
        self.peer_rounds += other.peer_rounds;
        self.longest = self.longest.max(other.longest);
        self.converged = (self.converged.0 + other.converged.0, self.converged.1.max(other.converged.1));
        self.trace = self.trace.wrapping_add(other.trace);
        self
    }
}

/// Carries a scenario out while somebody follows it.
pub fn watch(scenario: &Scenario, spectator: &mut dyn Spectator) -> Outcome {
    simulate(scenario, false, Some(spectator))
}

/// Carries a scenario out, with a readable log if asked for. A panic is a violation like any other.
pub fn run(scenario: &Scenario, log: bool) -> Outcome {
    catch_unwind(|| simulate(scenario, log, None)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let violation = Some(format!("a panic: {}", text.unwrap_or("without a message")));
        Outcome { violation, ..Outcome::default() }
    })
}

/// Leaves out the faults that a violation does not need, one after the other.
fn shrink(scenario: &Scenario) -> Failure {
    let mut least = scenario.clone();
    for fault in scenario.faults().collect::<Vec<_>>() {
        let fewer = least.without(fault);
        if run(&fewer, false).violation.is_some() {
            least = fewer;
        }
    }
    Failure { outcome: run(&least, true), scenario: least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::fault::Fault;

    #[test]
    fn results_add_up_in_any_order() {
        let sweep = |seeds: Range<u64>| SeedSweep::run(seeds, Scenario::from_seed, || true, || ());
        let (all, parts) = (sweep(1..4), sweep(3..4).and(sweep(1..3)));
        assert_eq!((all.seeds, all.trace, all.longest), (parts.seeds, parts.trace, parts.longest));
        let outcomes = (1..4).map(|seed| run(&Scenario::from_seed(seed), false));
        assert_eq!(all.peer_rounds, outcomes.map(|outcome| outcome.peer_rounds).sum::<u64>());
        assert_eq!(all.faults, parts.faults);
    }

    #[test]
    fn no_seed_is_begun_after_an_interruption() {
        let sweep = SeedSweep::run(0..10, |_| panic!("a seed was begun"), || false, || ());
        assert_eq!((sweep.seeds, sweep.trace), (0, 0));
    }

    /// A scenario that panics: it has no nodes to draw from.
    fn broken() -> Scenario {
        let mut scenario = Scenario { nodes: 0, ..Scenario::from_seed(1) };
        scenario.rates = ByFault::default();
        (scenario.rates[Fault::Crash], scenario.rates[Fault::Loss]) = (0.5, 0.5);
        scenario
    }

    #[test]
    fn a_panic_is_a_violation() {
        let violation = run(&broken(), false).violation.unwrap();
        assert!(violation.starts_with("a panic: "), "{violation}");
    }

    #[test]
    fn a_failure_keeps_only_the_faults_that_it_needs() {
        let Failure { scenario, outcome } = shrink(&broken());
        assert!(outcome.violation.is_some());
        assert!(scenario.faults().eq([Fault::Crash]), "{:?}", scenario.rates);
    }
}
