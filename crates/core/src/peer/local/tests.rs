//! One agent alone: it begins, takes a step, and refuses what cannot be used.

use super::*;
use crate::peer::ledger::Ledger;
use crate::peer::tests::fixtures::{Bowls, configs_of};
use crate::peer::wire::WireFormat;
use crate::topology::Complete;

/// The agent 1 of two, whose gradient is NaN in these rounds.
fn agent(broken: std::ops::Range<u64>) -> LocalState<f64> {
    let config = configs_of(Bowls { agents: 2, broken }, false, Complete::new).remove(1);
    let format = WireFormat::new(config.run, 2, &config.algorithm.segments(0), config.words);
    LocalState::new(&config, format.layout().clone())
}

/// The agent and its ledger after the beginning of an epoch.
fn begun(broken: std::ops::Range<u64>) -> (LocalState<f64>, Ledger) {
    let (mut agent, mut ledger) = (agent(broken), Ledger::default());
    ledger.begin(&agent.begin(&[5.0; 3], 0).unwrap());
    agent.load_mass(ledger.mass());
    (agent, ledger)
}

fn step(agent: &mut LocalState<f64>, ledger: &mut Ledger, round: u64) -> StepOutcome {
    agent.next.copy_from_slice(&agent.row);
    agent.prepare_step(ledger.mass(), ledger.input());
    let outcome = agent.step(round, |old, new| ledger.book(Unit::default(), old, new).is_ok());
    if !outcome.taken {
        agent.next.copy_from_slice(&agent.row);
        agent.prepare_step(ledger.mass(), ledger.input());
    }
    agent.end_round(ledger.mass());
    outcome
}

#[test]
fn the_tracker_of_an_agent_alone_is_its_own_gradient() {
    let (mut agent, mut ledger) = begun(0..0);
    assert_eq!(agent.contribution(), [4.0; 3], "the gradient at 5 of a bowl around 1");
    for round in 0..100 {
        assert_eq!(step(&mut agent, &mut ledger, round), StepOutcome { request: Request::Go, taken: true });
        assert_eq!(ledger.mass(), ledger.input(), "no edges, so the mass is what was put in");
        let pushed = agent.layout.pushed().flat_map(|part| &agent.row[part.row.clone()]);
        assert!(pushed.zip(agent.contribution()).all(|(mass, level)| (mass - level).abs() < 1e-11));
    }
    assert!(agent.point().iter().all(|y| (y - 1.0).abs() < 1e-3), "{:?}", agent.point());
}

#[test]
fn before_a_step_the_old_level_is_taken_from_the_mass() {
    let (mut agent, _) = begun(0..0);
    agent.prepare_step(&[3 << 40; 3], &[1 << 40; 3]);
    let pushed: Vec<f64> = agent.layout.pushed().flat_map(|part| agent.next[part.row.clone()].to_vec()).collect();
    assert_eq!(pushed, [2.0; 3]);
}

#[test]
fn a_step_that_is_not_finite_is_undone() {
    let (mut agent, mut ledger) = begun(3..4);
    (0..3).for_each(|round| assert!(step(&mut agent, &mut ledger, round).taken));
    let (row, memory, contribution, books) =
        (agent.row.clone(), agent.memory.clone(), agent.contribution.clone(), ledger.clone());
    assert_eq!(step(&mut agent, &mut ledger, 3), StepOutcome { request: Request::Go, taken: false });
    assert_eq!((&agent.row, &agent.memory, &agent.contribution), (&row, &memory, &contribution));
    assert_eq!(ledger, books);
    assert!(step(&mut agent, &mut ledger, 4).taken);
}

#[test]
fn a_step_that_cannot_be_booked_asks_for_a_new_epoch() {
    let (mut agent, ledger) = begun(0..0);
    let contribution = agent.contribution.clone();
    agent.next.copy_from_slice(&agent.row);
    agent.prepare_step(ledger.mass(), ledger.input());
    assert_eq!(agent.step(0, |_, _| false), StepOutcome { request: Request::Restart, taken: false });
    assert_eq!(agent.contribution, contribution);
}

#[test]
fn an_epoch_begins_with_the_samples_of_a_later_round_if_need_be() {
    assert!(agent(0..7).begin(&[5.0; 3], 0).is_some());
    assert!(agent(0..8).begin(&[5.0; 3], 0).is_none());
    let mut hopeless = agent(0..8);
    hopeless.begin(&[5.0; 3], 0);
    assert!(hopeless.row.iter().chain(hopeless.contribution()).all(|scalar| *scalar == 0.0), "it only mixes");
}

#[test]
fn a_point_that_cannot_be_used_is_given_up_for_the_start() {
    let mut agent = agent(0..0);
    assert!(agent.begin(&[1e300; 3], 0).is_some());
    assert_eq!(agent.point(), agent.starting_point());
}

#[test]
fn a_snapshot_holds_all_scalars_and_no_more() {
    let (mut agent, mut ledger) = begun(0..0);
    step(&mut agent, &mut ledger, 0);
    let mut bytes = Vec::new();
    agent.save(&mut bytes);
    let (mut other, _) = begun(0..0);
    assert_ne!(other.fingerprint(1), agent.fingerprint(1));
    assert!(other.restore(&bytes));
    assert_eq!((other.fingerprint(1), other.contribution()), (agent.fingerprint(1), agent.contribution()));
    assert!(!other.restore(&bytes[8..]) && !other.restore(&[&bytes[..], &[0; 8]].concat()));
}
