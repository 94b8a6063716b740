//! Tuning: the two tiers of the paper's App. C.1, with early stopping of losers and a budget.

use std::path::Path;

use fabnet_core::algorithm::Steps;
use fabnet_core::settings::{Given, Value};

use crate::check::smoothness;
use crate::folder::Folder;
use crate::job::{JobError, Witness};
use crate::metric::metrics;
use crate::plan::{Group, Plan};
use crate::runner::{Pace, carry_out_plan};
use crate::setup::{Setup, SetupError, read_method};
use crate::solution::Solutions;
use crate::summary::{GroupSummary, Middle};

/// One group, tuned.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// With the best setting found.
    pub best: Group,
    /// How the file's own setting, the best one and automatic steps fare on the seeds that were tuned on.
    pub compared: Vec<(String, Score)>,
    /// Runs carried out.
    pub runs: usize,
}

/// How good a setting is: what is smaller is better, first the runs that failed, then the rounds, then the last value.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score {
    /// Runs that diverged or, with a target, did not reach it.
    pub failed: usize,
    /// The median of the rounds to the target; infinite if less than half of the runs reach it, 0 without a target.
    pub rounds: f64,
    /// The median of the last value.
    pub value: f64,
}

/// Coarse factors of the penalty, by large intervals.
const PENALTIES: [f64; 4] = [1.0, 5.0, 25.0, 125.0];
/// Around which steps, as parts of those that smoothness suggests, the first tier looks.
const STARTS: [f64; 2] = [1.0, 0.25];

/// Tunes each group of a plan, with at most `budget` runs for each, in the folder `scratch`.
pub fn tune(
    plan: &Plan,
    budget: usize,
    pace: Pace,
    scratch: &Path,
    witness: &dyn Witness,
) -> Result<Vec<Tuning>, JobError> {
    if plan.target.is_none() && falling(plan).next().is_none() {
        let message = "tuning wants something to fall: give a [stop], or record a metric that does, such as `upper`";
        return Err(SetupError::Invalid(message.to_owned()).into());
    }
    plan.groups
        .iter()
        .map(|group| Race { plan, pace, scratch, witness, left: budget, runs: 0, rounds: group.rounds }.tune(group))
        .collect()
}

/// What is recorded and gets smaller as a run gets better. What only some problems have may be an accuracy.
fn falling(plan: &Plan) -> impl Iterator<Item = &String> {
    let known: Vec<&str> = metrics::<f64>().iter().map(|metric| metric.name).collect();
    plan.metrics.iter().filter(move |metric| known.contains(&metric.as_str()))
}

/// The search for one group.
struct Race<'a> {
    plan: &'a Plan,
    pace: Pace,
    scratch: &'a Path,
    witness: &'a dyn Witness,
    left: usize,
    runs: usize,
    /// What nobody needs to exceed any more.
    rounds: u64,
}

/// A point of the search: the penalty, the step of x, and the step that all lower variables share.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    penalty: Option<f64>,
    x: f64,
    lower: f64,
}

impl Setting {
    /// What the file itself says, if it gives steps and the lower ones are one.
    fn of(group: &Group, names: &[&str]) -> Option<Self> {
        let step = |name: &str| number(group, &format!("steps.{name}"));
        let (x, lower) = (step(names[0])?, step(names[names.len() - 1])?);
        names[1..].iter().all(|name| step(name) == Some(lower)).then_some(Self {
            penalty: number(group, "penalty"),
            x,
            lower,
        })
    }

    /// With steps of three digits: more would say more than is known.
    fn rounded(self) -> Self {
        let digits = |size: f64| format!("{size:.2e}").parse().unwrap_or(size);
        Self { x: digits(self.x), lower: digits(self.lower), ..self }
    }
}

impl Race<'_> {
    fn tune(mut self, group: &Group) -> Result<Tuning, JobError> {
        let names = read_method::<f64>(group)?.direction.steps;
        let mut tried: Vec<Setting> = Vec::new();
        // First tier: the penalty, by large intervals, with steps that its smoothness suggests.
        let given = number(group, "penalty");
        let mut first: Vec<Setting> = Setting::of(group, names).into_iter().collect();
        for penalty in given.map_or(vec![None], |given| PENALTIES.iter().map(|factor| Some(given * factor)).collect()) {
            let suggested = suggestion(&with_penalty(group, penalty), self.plan.seeds[0])?;
            first.extend(
                STARTS.map(|part| Setting { penalty, x: suggested[0] * part, lower: suggested[1] * part }.rounded()),
            );
        }
        let mut best = self.better(group, names, None, &first, &mut tried)?;
        // Second tier: x and the coupled lower steps, by factors of two, as long as that helps.
        while let Some((setting, _)) = best {
            let lower: &[f64] = if names.len() > 1 { &[1.0, 2.0, 0.5] } else { &[1.0] };
            let around = [2.0, 1.0, 0.5].iter().flat_map(|x| {
                lower
                    .iter()
                    .map(move |lower| Setting { x: setting.x * x, lower: setting.lower * lower, ..setting }.rounded())
            });
            let found = self.better(group, names, best, &around.collect::<Vec<_>>(), &mut tried)?;
            if found == best {
                break;
            }
            best = found;
        }
        let (setting, _) = best.ok_or_else(|| {
            SetupError::Impossible(format!(
                "the budget does not suffice for one setting of `{}`: raise --budget",
                group.label
            ))
        })?;
        let best = Group { label: format!("{} tuned", group.label), ..with_steps(group, names, setting) };
        let compared = self.compare(group, &best)?;
        Ok(Tuning { best, compared, runs: self.runs })
    }

    /// The best of these settings and the one to beat, as far as the budget goes.
    fn better(
        &mut self,
        group: &Group,
        names: &[&'static str],
        to_beat: Option<(Setting, Score)>,
        settings: &[Setting],
        tried: &mut Vec<Setting>,
    ) -> Result<Option<(Setting, Score)>, JobError> {
        let mut fresh: Vec<Setting> = settings.iter().copied().filter(|setting| !tried.contains(setting)).collect();
        fresh.truncate(self.left / self.plan.seeds.len());
        self.left -= fresh.len() * self.plan.seeds.len();
        tried.extend(&fresh);
        let candidates: Vec<Group> = fresh.iter().map(|setting| with_steps(group, names, *setting)).collect();
        let mut best = to_beat;
        for (setting, score) in fresh.into_iter().zip(self.race(&candidates)?) {
            if best.is_none_or(|(_, best)| score < best) {
                best = Some((setting, score));
            }
        }
        if let Some((_, Score { rounds, .. })) =
            best.filter(|(_, score)| self.plan.target.is_some() && score.failed == 0)
        {
            // Who needs twice the rounds of the best has lost.
            self.rounds = self.rounds.min(2 * rounds as u64);
        }
        Ok(best)
    }

    /// The scores of groups, in order.
    fn race(&mut self, candidates: &[Group]) -> Result<Vec<Score>, JobError> {
        let numbered = |(number, group): (usize, &Group)| Group {
            label: format!("{} #{number}", group.label),
            rounds: self.rounds,
            ..group.clone()
        };
        let groups = candidates.iter().enumerate().map(numbered).collect();
        let plan = Plan { groups, solutions: Solutions::None, ..self.plan.clone() };
        let folder = Folder::new(&self.scratch.join(format!("race-{}", self.runs)));
        folder.begin(&plan)?;
        self.runs += plan.groups.len() * plan.seeds.len();
        let report = carry_out_plan(&plan, &folder, self.pace, self.witness)?;
        folder.end()?;
        if report.interrupted {
            return Err(SetupError::Impossible("interrupted: nothing was written".to_owned()).into());
        }
        Ok(report.summary.groups.iter().map(|group| self.score(group)).collect())
    }

    fn score(&self, group: &GroupSummary) -> Score {
        let Middle { median, .. } = group.reached_at;
        let last = |metric: &String| group.last.get(metric).and_then(|spread| spread.median);
        let (value, failed, rounds) = match &self.plan.target {
            Some(target) => (last(&target.metric), group.runs - group.reached, median.unwrap_or(f64::INFINITY)),
            // The error is not known on every problem.
            None => (falling(self.plan).find_map(last), group.diverged, 0.0),
        };
        Score { failed, rounds, value: value.unwrap_or(f64::INFINITY) }
    }

    fn compare(&mut self, group: &Group, best: &Group) -> Result<Vec<(String, Score)>, JobError> {
        self.rounds = group.rounds;
        let automatic = || {
            let mut automatic = group.clone();
            automatic.algorithm.settings.retain(|(key, _)| !key.starts_with("steps"));
            automatic.algorithm.settings.push(("steps".to_owned(), Value::from("auto")));
            automatic
        };
        let has_automatic = read_method::<f64>(group)?.direction.automatic;
        let given = has_automatic || group.algorithm.get("steps").is_none();
        let candidates = [
            given.then(|| ("as given", group.clone())),
            Some(("tuned", best.clone())),
            has_automatic.then(|| ("steps = \"auto\"", automatic())),
        ];
        let (names, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().flatten().unzip();
        Ok(names.into_iter().map(str::to_owned).zip(self.race(&candidates)?).collect())
    }
}

/// The steps of x and of the lower variables that agents would find themselves.
fn suggestion(group: &Group, seed: u64) -> Result<[f64; 2], SetupError> {
    let setup = Setup::<f64>::with_steps(group, seed, Some(Steps::same(0.0)))?;
    let [x, lower, _] = setup.algorithm.direction().automatic(&smoothness(&setup), 0);
    Ok([x, lower])
}

fn with_penalty(group: &Group, penalty: Option<f64>) -> Group {
    let mut group = group.clone();
    for (key, value) in &mut group.algorithm.settings {
        if let (Some(penalty), "penalty") = (penalty, key.as_str()) {
            *value = Value::Number(penalty);
        }
    }
    group
}

/// The group with these steps; momentum and decay stay as they are.
fn with_steps(group: &Group, names: &[&str], setting: Setting) -> Group {
    let mut group = with_penalty(group, setting.penalty);
    let settings = &mut group.algorithm.settings;
    settings.retain(|(key, _)| key != "steps" && !names.iter().any(|name| *key == format!("steps.{name}")));
    for name in names {
        let size = if *name == names[0] { setting.x } else { setting.lower };
        settings.push((format!("steps.{name}"), Value::Number(size)));
    }
    group
}

fn number(group: &Group, key: &str) -> Option<f64> {
    if let Some(Value::Number(number)) = group.algorithm.get(key) { Some(number) } else { None }
}
