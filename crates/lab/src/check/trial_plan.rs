//! How a trial run proceeds: one run or two, over how many rounds, with which snapshots.

use fabnet_core::settings::{SettingsSource, Value};
use fabnet_core::{ProblemExt, Scalar};

use crate::plan::Group;
use crate::run::Setup;

/// A trial takes at most one in this many of a run's rounds.
pub(super) const PART: u64 = 20;

/// How a trial proceeds.
pub(super) struct TrialPlan {
    /// Whether a round is an affine map.
    pub(super) affine: bool,
    /// Whether a second run from another start is needed to see what is linear.
    pub(super) twice: bool,
    /// Whether snapshots are whole periods of the network and the method apart.
    pub(super) periodic: bool,
    /// The rounds of each run.
    pub(super) rounds: u64,
    /// The rounds between two snapshots.
    pub(super) stride: u64,
    /// The round up to which growth is extrapolated.
    pub(super) horizon: u64,
}

impl TrialPlan {
    /// The largest number of snapshots.
    const SNAPSHOTS: u64 = 64;
    /// The least number of periods in a trial whose snapshots are whole periods apart.
    const PERIODS: u64 = 5;

    /// The trial of a group that is set up.
    pub(super) fn new<T: Scalar>(setup: &Setup<T>, group: &Group) -> Self {
        let budget = group.rounds / PART;
        let affine = setup.problem.optimum().is_some() && has_fixed_steps(group);
        let period = setup.topology.period().map(|period| lcm(period, inner_loop(group)));
        let fits = |rounds: u64| period.is_some_and(|period| rounds >= Self::PERIODS * period);
        // Batches and faults draw another map in every round; noise is only added to it.
        let one_map = setup.problem.most_batches() <= 1 && group.faults.is_none();
        let twice = affine && !(one_map && !setup.problem.noisy() && fits(budget));
        let rounds = if twice { budget / 2 } else { budget };
        let periodic = affine && one_map && fits(rounds);
        let unit = period.filter(|_| periodic).unwrap_or(1);
        let stride = (rounds / Self::SNAPSHOTS).div_ceil(unit).max(1) * unit;
        Self { affine, twice, periodic, rounds, stride, horizon: horizon(group) }
    }
}

/// Whether a method keeps its step sizes, apart from a schedule.
fn has_fixed_steps(group: &Group) -> bool {
    group.algorithm.settings.iter().any(|(key, _)| key.starts_with("steps."))
}

/// The rounds after which the loops of a method repeat.
fn inner_loop(group: &Group) -> u64 {
    match group.algorithm.get("inner_rounds") {
        Some(Value::Whole(rounds)) => rounds.unsigned_abs() + 1,
        _ => 1,
    }
}

/// The round up to which step sizes are about what they are in the trial.
fn horizon(group: &Group) -> u64 {
    /// Step sizes that have decreased to this fraction still count as unchanged.
    const KEPT: f64 = 0.8;
    let number = |key: &str| match group.algorithm.get(key) {
        Some(Value::Number(number)) if number > 0.0 => Some(number),
        _ => None,
    };
    let by_decay = number("steps.decay").map(|decay| (1.0 / KEPT - 1.0) / decay);
    let by_power = number("steps.power").map(|power| KEPT.powf(-1.0 / power));
    by_decay.or(by_power).map_or(group.rounds, |rounds| group.rounds.min(rounds as u64))
}

/// The least common multiple.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
