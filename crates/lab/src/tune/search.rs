//! The search for the best setting of each group of a plan.

use std::path::Path;

use fabnet_core::settings::Value;

use super::candidate::{Candidate, number, suggestion, with_penalty, with_steps};
use super::comparison::Comparison;
use super::error::TuneError;
use super::objective::{Objective, Score};
use crate::plan::{Group, Plan};
use crate::registry::find_method;
use crate::run::{Progress, RunOptions, preflight};

/// What tuning found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What settings were compared by.
    pub objective: Objective,
    /// The seeds that settings were compared on in the end; none of them was tuned on.
    pub held_out: Vec<u64>,
    /// One result for each group.
    pub groups: Vec<TunedGroup>,
}

/// What tuning found for one group.
#[derive(Clone, Debug)]
pub struct TunedGroup {
    /// The group with the setting that is better on held-out seeds: the given one, unless a better
    /// one was found.
    pub best: Group,
    /// Whether that is the given setting.
    pub kept: bool,
    /// The scores of the given setting, the tuned one and automatic step sizes on the held-out
    /// seeds.
    pub compared: Vec<(String, Score)>,
    /// The number of runs that were carried out.
    pub runs: usize,
}

/// The factors of the penalty that the first tier tries, at large intervals.
const PENALTIES: [f64; 4] = [1.0, 5.0, 25.0, 125.0];
/// The step sizes that the first tier tries, as fractions of those that smoothness suggests.
const STARTS: [f64; 2] = [1.0, 0.25];
/// The factor between neighbours in the second tier.
const FACTOR: f64 = 2.0;
/// The factor below which neighbours are no different.
const FINEST_FACTOR: f64 = 1.01;
/// The least and the largest number of held-out seeds.
const HELD_OUT: [usize; 2] = [3, 10];

/// Tunes each group of a plan, with at most `budget` runs for each besides the last comparison, in
/// the folder `scratch`.
pub fn tune(
    plan: &Plan,
    budget: usize,
    options: RunOptions,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Tuned, TuneError> {
    let objective = Objective::of(plan)?;
    preflight(plan, options.threads)?;
    let held_out = held_out(&plan.seeds);
    let tuned = plan.groups.iter().map(|group| {
        let rounds = group.rounds;
        let objective = &objective;
        let comparison = Comparison { plan, objective, options, scratch, progress, left: budget, runs: 0, rounds };
        search(comparison, group, &held_out)
    });
    let groups = tuned.collect::<Result<_, _>>()?;
    Ok(Tuned { objective, held_out, groups })
}

/// Tunes one group.
fn search(mut comparison: Comparison<'_>, group: &Group, held_out: &[u64]) -> Result<TunedGroup, TuneError> {
    let best = best_of_search(&mut comparison, group, FACTOR)?;
    let tuned = Group { label: format!("{} tuned", group.label), ..best };
    decide(comparison, group, tuned, held_out)
}

/// The best setting that the search finds for the only group of a plan with this many trials, each
/// on all seeds of the plan, and the number of trials that were carried out. Where no neighbour is
/// better, nearer ones are tried, so that every method uses its trials.
pub(crate) fn best_setting(
    plan: &Plan,
    trials: usize,
    options: RunOptions,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<(Group, usize), TuneError> {
    let objective = &Objective::of(plan)?;
    let (group, seeds) = (&plan.groups[0], plan.seeds.len());
    let (left, rounds) = (trials * seeds, group.rounds);
    let mut comparison = Comparison { plan, objective, options, scratch, progress, left, runs: 0, rounds };
    let best = best_of_search(&mut comparison, group, FINEST_FACTOR)?;
    Ok((best, comparison.runs / seeds))
}

/// The group with the best setting that the search finds within the budget.
fn best_of_search(comparison: &mut Comparison<'_>, group: &Group, finest: f64) -> Result<Group, TuneError> {
    let names = find_method::<f64>(group)?.direction.steps;
    let mut tried: Vec<Candidate> = Vec::new();
    let first = first_tier(comparison.plan, group, names)?;
    let mut best = comparison.best_of(group, names, None, &first, &mut tried)?;
    // Second tier: x and the coupled lower step sizes, by factors of two as long as that helps, and
    // then by the roots of it, down to the finest factor.
    let mut factor = FACTOR;
    while let Some((candidate, _)) = best {
        let around = candidate.around(names.len() > 1, factor);
        let found = comparison.best_of(group, names, best, &around, &mut tried)?;
        if found == best {
            factor = factor.sqrt();
            if factor < finest {
                break;
            }
        }
        best = found;
    }
    let (candidate, _) = best.ok_or_else(|| TuneError::Budget { label: group.label.clone() })?;
    Ok(with_steps(group, names, candidate))
}

/// The candidates of the first tier: the given setting, and penalties at large intervals with the
/// step sizes that their smoothness suggests.
fn first_tier(plan: &Plan, group: &Group, names: &[&str]) -> Result<Vec<Candidate>, TuneError> {
    let mut first: Vec<Candidate> = Candidate::of(group, names).into_iter().collect();
    let given = number(group, "penalty");
    for penalty in given.map_or(vec![None], |given| PENALTIES.iter().map(|factor| Some(given * factor)).collect()) {
        let [x, lower] = suggestion(&with_penalty(group, penalty), plan.seeds[0])?;
        first.extend(STARTS.map(|part| Candidate { penalty, x: x * part, lower: lower * part }.rounded()));
    }
    Ok(first)
}

/// Takes the tuned setting if it is better than the given one on held-out seeds, else the given
/// one.
fn decide(
    mut comparison: Comparison<'_>,
    group: &Group,
    tuned: Group,
    held_out: &[u64],
) -> Result<TunedGroup, TuneError> {
    comparison.rounds = group.rounds;
    let mut compared = vec![("as given", group.clone()), ("tuned", tuned.clone())];
    if find_method::<f64>(group)?.direction.automatic {
        compared.push(("steps = \"auto\"", with_automatic_steps(group)));
    }
    let (names, groups): (Vec<_>, Vec<_>) = compared.into_iter().unzip();
    let scores = comparison.scores(&groups, held_out)?;
    let kept = scores[1].partial_cmp(&scores[0]) != Some(std::cmp::Ordering::Less);
    Ok(TunedGroup {
        best: if kept { group.clone() } else { tuned },
        kept,
        compared: names.into_iter().map(str::to_owned).zip(scores).collect(),
        runs: comparison.runs,
    })
}

/// The group with automatic step sizes.
fn with_automatic_steps(group: &Group) -> Group {
    let mut group = group.clone();
    group.algorithm.settings.retain(|(key, _)| !key.starts_with("steps"));
    group.algorithm.settings.push(("steps".to_owned(), Value::from("auto")));
    group
}

/// As many seeds as are tuned on, within bounds, beginning after the largest of these.
fn held_out(seeds: &[u64]) -> Vec<u64> {
    let [least, most] = HELD_OUT;
    let first = seeds.iter().max().map_or(0, |seed| seed.wrapping_add(1));
    let new = (0..).map(|offset| first.wrapping_add(offset)).filter(|seed| !seeds.contains(seed));
    new.take(seeds.len().clamp(least, most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_out_seeds_are_others() {
        assert_eq!(held_out(&[0, 1, 2, 3, 4]), [5, 6, 7, 8, 9]);
        assert_eq!(held_out(&[7]), [8, 9, 10]);
        assert_eq!(held_out(&[u64::MAX, 1]), [0, 2, 3]);
        assert_eq!(held_out(&(0..40).collect::<Vec<_>>()).len(), 10);
    }
}
