//! Many seeds, one after the other and side by side.

use std::ops::Range;
use std::panic::catch_unwind;

use rayon::prelude::*;

use crate::fault::ByFault;
use crate::scenario::Scenario;
use crate::world::{Outcome, simulate};

/// How many simulations went.
#[derive(Clone, Debug, Default)]
pub struct Swarm {
    /// Seeds that were run.
    pub seeds: u64,
    /// Those of which something was wrong, each as small as it could be made.
    pub failures: Vec<Failure>,
    /// How often each fault happened.
    pub faults: ByFault<u64>,
    /// Rounds of all peers together.
    pub peer_rounds: u64,
    /// Events of the longest simulation, and its seed.
    pub longest: (u64, u64),
    /// Seeds that were run until the solution, and how long that took at most, in ticks after the last fault.
    pub converged: (u64, u64),
    /// Everything that happened, as one number that does not depend on the order of seeds.
    pub trace: u64,
}

/// A seed that found something.
#[derive(Clone, Debug)]
pub struct Failure {
    /// With fewer faults than the seed has, if these are enough.
    pub scenario: Scenario,
    /// How it went.
    pub outcome: Outcome,
}

impl Swarm {
    /// Runs the scenarios of these seeds on the threads of the current pool. `goes_on` is asked before each, and none is begun once it says no.
    /// `done` is told after each.
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
        let seed = scenario.seed;
        Self {
            seeds: 1,
            faults: outcome.faults,
            peer_rounds: outcome.peer_rounds,
            longest: (outcome.events, seed),
            converged: (u64::from(outcome.converged_after.is_some()), outcome.converged_after.unwrap_or(0)),
            trace: outcome.trace ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
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

/// Carries a scenario out; a panic is a violation like any other.
pub fn run(scenario: &Scenario, log: bool) -> Outcome {
    catch_unwind(|| simulate(scenario, log)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Outcome::failed(format!("a panic: {}", text.unwrap_or("without a message")))
    })
}

/// Leaves out faults that a failure does not need, one after the other.
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
