//! The best fixed setting of a cell, and the comparison with it.

use super::{Cell, Outcome, Setting, run};

/// Seeds on which fixed settings are chosen.
const CHOOSING: [u64; 3] = [500, 501, 502];
/// Seeds on which the chosen one and automatic step sizes are compared.
const HELD_OUT: [u64; 5] = [700, 701, 702, 703, 704];
/// The rounds within which a fixed setting must solve a cell.
pub(super) const LONGEST: u64 = 20_000;
/// The rounds of a cell with noise.
const NOISY_ROUNDS: u64 = 5_000;
/// Settings that are tried on all seeds for choosing.
const FINALISTS: usize = 6;

/// The best fixed setting of a cell, on seeds that were not used for choosing.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The setting; none if none solves the cell.
    pub setting: Option<Setting>,
    /// The median of its rounds, or with noise of its error at the end.
    pub score: f64,
}

impl Reference {
    /// Looks for the best fixed setting of a cell.
    pub fn find(cell: &Cell) -> Self {
        let setting = choose(cell);
        let score = setting.map_or(f64::INFINITY, |setting| {
            median(HELD_OUT.map(|seed| score(cell, &run(cell, setting, seed, cap(cell, LONGEST)))))
        });
        Self { setting, score }
    }
}

/// Automatic step sizes in a cell, on the same seeds.
#[derive(Clone, Debug)]
pub struct Automatic {
    /// The median of their rounds, or with noise of their error at the end.
    pub score: f64,
    /// The number of seeds on which they fail.
    pub failures: usize,
    /// The largest error in any of their runs, relative to the initial one.
    pub peak: f64,
}

impl Automatic {
    /// Runs them for ten times as long as the best fixed setting has needed.
    pub fn run(cell: &Cell, reference: f64) -> Self {
        let longest = if reference.is_finite() { (10.0 * reference) as u64 + 100 } else { LONGEST };
        let runs = HELD_OUT.map(|seed| run(cell, Setting::Automatic, seed, cap(cell, longest)));
        Self {
            score: median(runs.map(|outcome| score(cell, &outcome))),
            failures: runs.iter().filter(|outcome| !score(cell, outcome).is_finite()).count(),
            peak: runs.iter().map(|outcome| outcome.peak).fold(0.0, f64::max),
        }
    }
}

/// The best fixed setting: all are tried on the first seed, for little longer than the best so far
/// has needed, and the finalists on the others.
fn choose(cell: &Cell) -> Option<Setting> {
    let (mut best, mut scored) = (f64::INFINITY, Vec::new());
    for setting in Setting::grid(cell) {
        let longest = if cell.noisy { LONGEST } else { (1.25 * best).min(LONGEST as f64) as u64 };
        let found = score(cell, &run(cell, setting, CHOOSING[0], cap(cell, longest)));
        if found.is_finite() {
            best = best.min(found);
            scored.push((found, setting));
        }
    }
    scored.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let finalist = |&(first, setting): &(f64, Setting)| {
        let longest = ((3.0 * best) as u64).min(LONGEST);
        let others = [CHOOSING[1], CHOOSING[2]].map(|seed| score(cell, &run(cell, setting, seed, cap(cell, longest))));
        (median([first, others[0], others[1]]), setting)
    };
    let finalists = scored.iter().take(FINALISTS).map(finalist);
    finalists.min_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(score, _)| score.is_finite()).map(|(_, setting)| setting)
}

/// What is compared: rounds, or with noise the error at the end.
fn score(cell: &Cell, outcome: &Outcome) -> f64 {
    if cell.noisy {
        Some(outcome.tail).filter(|tail| tail.is_finite()).unwrap_or(f64::INFINITY)
    } else {
        outcome.rounds.map_or(f64::INFINITY, |rounds| rounds as f64)
    }
}

fn cap(cell: &Cell, longest: u64) -> u64 {
    if cell.noisy { NOISY_ROUNDS } else { longest }
}

fn median<const N: usize>(mut values: [f64; N]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[N / 2]
}
