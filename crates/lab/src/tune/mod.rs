//! Tuning: the two tiers of the paper's App. C.1, with early stopping of losers and a budget, and a
//! comparison on seeds that were not tuned on.

mod race;
mod setting;

use std::fmt::{Display, Formatter};
use std::path::Path;

use fabnet_core::settings::Value;

use crate::job::{JobError, Witness};
use crate::metric::metrics;
use crate::plan::{Group, Plan};
use crate::preflight::preflight;
use crate::runner::Pace;
use crate::setup::{SetupError, read_method};
use race::Race;
use setting::{Setting, number, suggestion, with_penalty, with_steps};

/// What tuning found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What settings were compared by.
    pub objective: Objective,
    /// The seeds that settings were compared on in the end; none of them was tuned on.
    pub held_out: Vec<u64>,
    /// One for each group.
    pub groups: Vec<Tuning>,
}

/// One group, tuned.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// With the setting that is better on held-out seeds: the given one, unless a better one was found.
    pub best: Group,
    /// Whether that is the given one.
    pub kept: bool,
    /// How the given setting, the tuned one and automatic step sizes fare on the held-out seeds.
    pub compared: Vec<(String, Score)>,
    /// Runs carried out.
    pub runs: usize,
}

/// What settings are compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The rounds to the target of `[stop]`.
    Rounds {
        /// The metric of the target.
        metric: String,
    },
    /// The last value of a metric, because there is no `[stop]`.
    Last {
        /// The metrics that may be meant; the first that a problem has counts.
        metrics: Vec<String>,
    },
}

/// How good a setting is: what is smaller is better, first the runs that failed, then the rounds, then the last value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score {
    /// Runs that diverged or, with a target, did not reach it.
    pub failed: usize,
    /// The median of the rounds to the target, infinite if less than half of the runs reach it; none without a target.
    pub rounds: Option<f64>,
    /// The median of the last value.
    pub value: f64,
}

/// Coarse factors of the penalty, by large intervals.
const PENALTIES: [f64; 4] = [1.0, 5.0, 25.0, 125.0];
/// Around which steps, as parts of those that smoothness suggests, the first tier looks.
const STARTS: [f64; 2] = [1.0, 0.25];
/// Held-out seeds, at least and at most.
const HELD_OUT: [usize; 2] = [3, 10];

/// Tunes each group of a plan, with at most `budget` runs for each besides the last comparison, in the folder `scratch`.
pub fn tune(plan: &Plan, budget: usize, pace: Pace, scratch: &Path, witness: &dyn Witness) -> Result<Tuned, JobError> {
    let objective = Objective::of(plan)?;
    preflight(plan, pace.threads)?;
    let held_out = held_out(&plan.seeds);
    let tuned = plan.groups.iter().map(|group| {
        let race =
            Race { plan, objective: &objective, pace, scratch, witness, left: budget, runs: 0, rounds: group.rounds };
        search(race, group, &held_out)
    });
    let groups = tuned.collect::<Result<_, _>>()?;
    Ok(Tuned { objective, held_out, groups })
}

impl Objective {
    /// The target, or else what is recorded and gets smaller as a run gets better. What only some
    /// problems have may be an accuracy.
    fn of(plan: &Plan) -> Result<Self, SetupError> {
        if let Some(target) = &plan.target {
            return Ok(Self::Rounds { metric: target.metric.clone() });
        }
        let known: Vec<&str> = metrics::<f64>().iter().map(|metric| metric.name).collect();
        let metrics: Vec<String> =
            plan.metrics.iter().filter(|metric| known.contains(&metric.as_str())).cloned().collect();
        if metrics.is_empty() {
            let message =
                "tuning wants something to fall: give a [stop], or record a metric that does, such as `upper`";
            return Err(SetupError::Invalid(message.to_owned()));
        }
        Ok(Self::Last { metrics })
    }
}

impl Display for Objective {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rounds { metric } => {
                write!(f, "settings are compared by failed runs, then by the rounds until {metric} has reached [stop]")
            }
            Self::Last { metrics } => write!(
                f,
                "there is no [stop], so settings are compared by diverged runs, then by the last value of {}; \
                 give a [stop] to compare by rounds",
                metrics.join(" or ")
            ),
        }
    }
}

/// As many seeds as are tuned on, within bounds, after the largest of these.
fn held_out(seeds: &[u64]) -> Vec<u64> {
    let [least, most] = HELD_OUT;
    let first = seeds.iter().max().map_or(0, |seed| seed.wrapping_add(1));
    let new = (0..).map(|offset| first.wrapping_add(offset)).filter(|seed| !seeds.contains(seed));
    new.take(seeds.len().clamp(least, most)).collect()
}

fn search(mut race: Race<'_>, group: &Group, held_out: &[u64]) -> Result<Tuning, JobError> {
    let names = read_method::<f64>(group)?.direction.steps;
    let mut tried: Vec<Setting> = Vec::new();
    let mut best = race.better(group, names, None, &first_tier(race.plan, group, names)?, &mut tried)?;
    // Second tier: x and the coupled lower steps, by factors of two, as long as that helps.
    while let Some((setting, _)) = best {
        let found = race.better(group, names, best, &setting.around(names.len() > 1), &mut tried)?;
        if found == best {
            break;
        }
        best = found;
    }
    let (setting, _) = best.ok_or_else(|| {
        let message = format!("the budget does not suffice for one setting of `{}`: raise --budget", group.label);
        SetupError::Impossible(message)
    })?;
    let tuned = Group { label: format!("{} tuned", group.label), ..with_steps(group, names, setting) };
    decide(race, group, tuned, held_out)
}

/// First tier: the penalty, by large intervals, with step sizes that its smoothness suggests; and the given setting.
fn first_tier(plan: &Plan, group: &Group, names: &[&str]) -> Result<Vec<Setting>, JobError> {
    let mut first: Vec<Setting> = Setting::of(group, names).into_iter().collect();
    let given = number(group, "penalty");
    for penalty in given.map_or(vec![None], |given| PENALTIES.iter().map(|factor| Some(given * factor)).collect()) {
        let [x, lower] = suggestion(&with_penalty(group, penalty), plan.seeds[0])?;
        first.extend(STARTS.map(|part| Setting { penalty, x: x * part, lower: lower * part }.rounded()));
    }
    Ok(first)
}

/// The tuned setting if it is better than the given one on held-out seeds, else the given one.
fn decide(mut race: Race<'_>, group: &Group, tuned: Group, held_out: &[u64]) -> Result<Tuning, JobError> {
    race.rounds = group.rounds;
    let mut candidates = vec![("as given", group.clone()), ("tuned", tuned.clone())];
    if read_method::<f64>(group)?.direction.automatic {
        candidates.push(("steps = \"auto\"", with_automatic_steps(group)));
    }
    let (names, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
    let scores = race.race(&candidates, held_out)?;
    let kept = scores[1].partial_cmp(&scores[0]) != Some(std::cmp::Ordering::Less);
    Ok(Tuning {
        best: if kept { group.clone() } else { tuned },
        kept,
        compared: names.into_iter().map(str::to_owned).zip(scores).collect(),
        runs: race.runs,
    })
}

fn with_automatic_steps(group: &Group) -> Group {
    let mut group = group.clone();
    group.algorithm.settings.retain(|(key, _)| !key.starts_with("steps"));
    group.algorithm.settings.push(("steps".to_owned(), Value::from("auto")));
    group
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

    #[test]
    fn fewer_failures_count_before_rounds_and_rounds_before_values() {
        let score = |failed, rounds, value| Score { failed, rounds, value };
        assert!(score(0, Some(900.0), 1.0) < score(1, Some(10.0), 0.0));
        assert!(score(0, Some(10.0), 1.0) < score(0, Some(11.0), 0.0));
        assert!(score(0, None, 0.5) < score(0, None, 1.0));
    }
}
