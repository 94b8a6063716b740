//! dFAB with heavy ball and automatic steps on policy evaluation, 20 fresh seeds, FAB at the published setting beside it.
//! `cargo test --release -p fabnet-problems --test automatic_steps -- --nocapture` prints the figures.
#![allow(clippy::print_stdout)]

mod common;

use common::{automatic, median, policy_evaluation};
use fabnet_core::Stop;
use fabnet_core::algorithm::Steps;
use rayon::prelude::*;

const SEEDS: std::ops::Range<u64> = 1000..1020;
const ROUNDS: u64 = 8_000;
const LEVELS: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// For each seed, the rounds after which the error stays below each level; whether it diverged.
fn rounds_below(method: &str, steps: impl Fn(u64) -> Steps + Sync) -> Vec<([Option<u64>; 3], bool)> {
    let one = |seed| {
        let (stop, watch) = policy_evaluation(method, &[], steps(seed), seed, ROUNDS, 5, 0.0);
        (LEVELS.map(|level| watch.stays_below(level)), matches!(stop, Stop::Diverged { .. }))
    };
    let rounds: Vec<_> = SEEDS.into_par_iter().map(one).collect();
    let show = |level: usize| {
        let values = || rounds.iter().map(|(rounds, _)| rounds[level]);
        let text = |value: Option<u64>| value.map_or_else(|| "never".to_owned(), |value| value.to_string());
        format!(
            "{:>6} ({:>5})",
            text(median(values())),
            text(values().map(|v| v.unwrap_or(u64::MAX)).max().filter(|v| *v < u64::MAX))
        )
    };
    println!("{method:5} below 1e-2, 1e-4, 1e-6, median (max): {} {} {}", show(0), show(1), show(2));
    rounds
}

#[test]
fn automatic_steps_need_no_tuning() {
    let fab = rounds_below("fab", |_| Steps::same(0.1));
    let dfab = rounds_below("dfab", automatic);
    let level = |level: usize| median(dfab.iter().map(|(rounds, _)| rounds[level])).unwrap_or(u64::MAX);
    assert!(dfab.iter().all(|(_, diverged)| !diverged), "a run diverged");
    assert!(level(0) <= 150, "1e-2 after {} rounds", level(0));
    assert!(level(1) <= 400, "1e-4 after {} rounds", level(1));
    assert!(level(2) <= 800, "1e-6 after {} rounds", level(2));
    let late = dfab.iter().filter(|(rounds, _)| rounds[2].is_none_or(|round| round > 6_000)).count();
    assert!(late <= 1, "{late} seeds are later than 6,000 rounds");
    assert!(fab.iter().all(|(rounds, _)| rounds[1].is_none()), "FAB's penalty bias keeps it above 1e-4");
}
