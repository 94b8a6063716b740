//! Short sweeps of the fault simulator; `fabnet faults` does long ones.

use fabnet_sim::{Fault, NAMED, Scenario, SeedSweep, run};

#[test]
fn no_seed_finds_anything() {
    let sweep = SeedSweep::run(0..400, Scenario::from_seed, || true, || ());
    let found: Vec<_> =
        sweep.failures.iter().map(|failure| (failure.scenario.seed, &failure.outcome.violation)).collect();
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(sweep.converged.0, 8, "one seed in 50 is run until the solution");
    for fault in Fault::ALL {
        assert!(sweep.faults[fault] > 0, "{fault} never happened");
    }
}

#[test]
fn the_same_seed_is_the_same_simulation() {
    for seed in [1, 3, 50] {
        let scenario = Scenario::from_seed(seed);
        let (first, second) = (run(&scenario, false), run(&scenario, true));
        assert_eq!((first.trace, first.events, first.peer_rounds), (second.trace, second.events, second.peer_rounds));
        assert_ne!(first.trace, run(&Scenario::from_seed(seed + 1), false).trace);
    }
}

/// What seals are for: without them a single member makes others believe in lives that were never
/// lived, which no restart undoes.
#[test]
fn without_seals_a_liar_isolates_others() {
    for seed in 0..5 {
        let scenario = Scenario::named("liar", seed).unwrap();
        let violation = run(&Scenario { sealed: false, ..scenario }, false).violation.unwrap_or_default();
        assert!(violation.contains("that was never lived"), "seed {seed}: {violation}");
    }
}

#[test]
fn every_named_scenario_ends_at_the_solution() {
    for (name, _, faults) in NAMED {
        for seed in 0..5 {
            let outcome = run(&Scenario::named(name, seed).unwrap(), false);
            assert_eq!(outcome.violation, None, "{name}, seed {seed}");
            assert!(outcome.converged_after.is_some());
            let happened = faults.iter().any(|(fault, _)| outcome.faults[*fault] > 0);
            assert!(happened || faults.is_empty(), "{name}, seed {seed}: nothing went wrong");
        }
    }
}
