//! Everything that can be known before a run: the network, step sizes, what a trial run shows, and
//! what runs will cost.

mod criteria;
mod displaced;
mod growth;
mod network;
mod text;
mod trial;

pub use criteria::StepSizes;
pub use network::NetworkReport;
pub use trial::{Forecast, Trial};

pub(crate) use criteria::smoothness;
pub(crate) use displaced::Displaced;

use fabnet_core::{Mask, Scalar};
use serde::Serialize;

use crate::estimate::Needs;
use crate::job::JobError;
use crate::memory::Memory;
use crate::plan::{Group, Plan, Precision};
use crate::preflight::parallel_runs;
use crate::scales;
use crate::setup::{Setup, SetupError, read_network};
use crate::stopwatch::Stopwatch;

/// What is known of a plan. Its JSON form is stable: fields are added, and never renamed.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The version of this form.
    pub format: u32,
    /// Of the experiment.
    pub name: String,
    /// The outcome.
    pub verdict: Verdict,
    /// What may go wrong.
    pub warnings: Vec<Warning>,
    /// What cannot work.
    pub obstacles: Vec<String>,
    /// What was not looked at.
    pub not_checked: Vec<String>,
    /// The networks, each once.
    pub networks: Vec<NetworkReport>,
    /// The groups that can run.
    pub groups: Vec<GroupReport>,
    /// All runs together.
    pub total: Total,
    /// How long the check took.
    pub seconds: f64,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No problem found.
    Ok,
    /// It can run, with warnings.
    Warnings,
    /// It cannot work.
    Impossible,
}

/// Something that may go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// In which group; in several, or in the network, if none is named.
    pub group: Option<String>,
    /// Of which kind.
    pub kind: Risk,
    /// In words.
    pub message: String,
}

impl Warning {
    fn of_scale(message: String) -> Self {
        Self { group: None, kind: Risk::Scale, message }
    }
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Runs may diverge.
    Divergence,
    /// Some agents never hear of others.
    Disconnected,
    /// κ is small.
    Kappa,
    /// The data of some agents is on another scale than that of the others.
    Scale,
}

/// What is known of one group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// As in tables and figures.
    pub label: String,
    /// Its method.
    pub algorithm: String,
    /// What it solves.
    pub problem: String,
    /// Coordinates of x.
    pub outer: usize,
    /// Coordinates of y.
    pub inner: usize,
    /// Whether gradients are noisy.
    pub noisy: bool,
    /// Rounds of a run.
    pub rounds: u64,
    /// Its step sizes, and what is known of their limits.
    pub step_sizes: StepSizes,
    /// Trial runs, one for each seed that was tried.
    pub trials: Vec<Trial>,
    /// The memory of one run.
    pub needs: Needs,
    /// Bytes of a message's payload.
    pub message_bytes: usize,
    /// Bytes that an agent sends in a run.
    pub bytes_per_agent: f64,
    /// The time of one run, in seconds, if it does not stop early.
    pub seconds: f64,
}

/// All runs together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Total {
    /// How many.
    pub runs: usize,
    /// On how many threads.
    pub threads: usize,
    /// How many at the same time.
    pub parallel: usize,
    /// Their time, in seconds.
    pub seconds: f64,
    /// Their memory, of those that run at the same time.
    pub memory_bytes: f64,
    /// The memory that is available, where the system says.
    pub available_bytes: Option<f64>,
}

/// Seeds that are tried, at most.
const SEEDS: usize = 3;
/// Seconds that all trial runs together may take, and those of one group in any case.
const SECONDS: f64 = 20.0;
const LEAST: f64 = 1.0;

/// Looks at every group, and makes a trial run of it for each of the first seeds.
pub fn check(plan: &Plan, threads: usize) -> Result<Check, JobError> {
    let watch = Stopwatch::start();
    let mut check = Check::new(plan, threads);
    for group in &plan.groups {
        let one = match group.precision {
            Precision::F64 => check.group::<f64>(plan, group),
            Precision::F32 => check.group::<f32>(plan, group),
        };
        match one {
            Ok(()) => {}
            Err(SetupError::Impossible(message)) => check.obstacle(message),
            Err(invalid) => return Err(invalid.into()),
        }
    }
    check.finish(plan, watch.seconds());
    Ok(check)
}

impl Check {
    const FORMAT: u32 = 1;

    fn new(plan: &Plan, threads: usize) -> Self {
        let runs = plan.groups.len() * plan.seeds.len();
        Self {
            format: Self::FORMAT,
            name: plan.name.clone(),
            verdict: Verdict::Ok,
            warnings: scales::warnings(plan).into_iter().map(Warning::of_scale).collect(),
            obstacles: Vec::new(),
            not_checked: Vec::new(),
            networks: Vec::new(),
            groups: Vec::new(),
            total: Total {
                runs,
                threads,
                parallel: parallel_runs(runs, threads),
                available_bytes: Memory::here().map(|memory| memory.available),
                ..Total::default()
            },
            seconds: 0.0,
        }
    }

    fn group<T: Scalar>(&mut self, plan: &Plan, group: &Group) -> Result<(), SetupError> {
        self.network(group, plan.seeds[0])?;
        let setup = Setup::<T>::new(group, plan.seeds[0])?;
        let needs = setup.needs();
        if let Some(available) = self.total.available_bytes.filter(|available| needs.bytes() > *available) {
            return Err(needs.refusal(group.agents, &group.topology.kind, available));
        }
        let trials = try_seeds(plan, group, &setup)?;
        let dim = setup.problem.dim();
        let per_round = trials.iter().map(Trial::seconds_per_round).fold(0.0, f64::max);
        let sent = trials.iter().map(|trial| trial.bytes_per_round).fold(0.0, f64::max);
        let report = GroupReport {
            label: group.label.clone(),
            algorithm: group.algorithm.kind.clone(),
            problem: group.problem.kind.clone(),
            outer: dim.outer,
            inner: dim.inner,
            noisy: setup.problem.noisy(),
            rounds: group.rounds,
            step_sizes: StepSizes::new(group, &setup),
            trials,
            needs,
            message_bytes: setup.algorithm.segments(0).sent(Mask::ALL) * T::BYTES,
            bytes_per_agent: sent * group.rounds as f64,
            seconds: per_round * group.rounds as f64,
        };
        self.warnings.extend(criteria::divergence(&report, setup.problem.optimum().is_some()));
        self.groups.push(report);
        Ok(())
    }

    fn network(&mut self, group: &Group, seed: u64) -> Result<(), SetupError> {
        let key = NetworkReport::key(group)?;
        if self.networks.iter().any(|known| known.key == key) {
            return Ok(());
        }
        let wiring = read_network(group, seed)?;
        Needs::of_network(&*wiring.topology).refuse_impossible(group.agents, &group.topology.kind)?;
        let report = NetworkReport::new(group, &wiring, key);
        match report.judge(wiring.may_be_disconnected) {
            Ok(warnings) => self.warnings.extend(warnings),
            Err(obstacle) => self.obstacle(obstacle),
        }
        self.networks.push(report);
        Ok(())
    }

    fn obstacle(&mut self, message: String) {
        if !self.obstacles.contains(&message) {
            self.obstacles.push(message);
        }
    }

    /// Adds up, says what was not checked, and judges.
    fn finish(&mut self, plan: &Plan, seconds: f64) {
        let seeds = plan.seeds.len() as f64;
        let parallel = self.total.parallel as f64;
        self.total.seconds = self.groups.iter().map(|group| group.seconds).sum::<f64>() * seeds / parallel;
        let largest = self.groups.iter().map(|group| group.needs.bytes()).fold(0.0, f64::max);
        self.total.memory_bytes = largest * parallel;
        if let Some(available) = self.total.available_bytes.filter(|available| largest * parallel > *available) {
            let fitting = (available / largest) as usize;
            self.obstacle(crate::preflight::too_many(self.total.parallel, largest * parallel, available, fitting));
        }
        self.not_checked = unchecked(plan, &self.groups);
        self.seconds = seconds;
        self.verdict = match (self.obstacles.is_empty(), self.warnings.is_empty()) {
            (false, _) => Verdict::Impossible,
            (true, false) => Verdict::Warnings,
            (true, true) => Verdict::Ok,
        };
    }
}

/// Trial runs with the first seeds, as far as the time goes.
fn try_seeds<T: Scalar>(plan: &Plan, group: &Group, first: &Setup<T>) -> Result<Vec<Trial>, SetupError> {
    if group.rounds < trial::PART {
        return Ok(Vec::new());
    }
    let limit = (SECONDS / plan.groups.len() as f64).max(LEAST);
    let mut trials = vec![trial::trial(first, group, limit)?];
    let watch = Stopwatch::start();
    for &seed in plan.seeds.iter().take(SEEDS).skip(1) {
        let left = limit - trials[0].seconds - watch.seconds();
        if left < trials[0].seconds {
            break;
        }
        trials.push(trial::trial(&Setup::<T>::new(group, seed)?, group, left)?);
    }
    Ok(trials)
}

/// What was not looked at, in words.
fn unchecked(plan: &Plan, groups: &[GroupReport]) -> Vec<String> {
    let mut list = Vec::new();
    let tried = groups.iter().map(|group| group.trials.len()).min().unwrap_or(0);
    if tried < plan.seeds.len() {
        let rest = &plan.seeds[tried..];
        let which = format!("{} to {}", rest[0], rest[rest.len() - 1]);
        let all = if groups.iter().all(|group| group.trials.len() == tried) { "" } else { ", in some groups" };
        list.push(format!("{} of {} seeds were not tried ({which}{all})", rest.len(), plan.seeds.len()));
    }
    let seen: Vec<u64> = groups.iter().flat_map(|group| &group.trials).map(|trial| trial.seen).collect();
    if let (Some(least), Some(most)) = (seen.iter().min(), seen.iter().max()) {
        let rounds = if least == most { least.to_string() } else { format!("{least} to {most}, by group") };
        list.push(format!("rounds after {rounds} were extrapolated, not run"));
    }
    for group in groups.iter().filter(|group| group.trials.is_empty()) {
        list.push(format!(
            "{}: no trial run, because one in {} of its {} rounds is none",
            group.label,
            trial::PART,
            group.rounds
        ));
    }
    let unclear = |group: &&GroupReport| group.trials.iter().any(|trial| trial.forecast == Forecast::Unclear);
    for group in groups.iter().filter(unclear) {
        list.push(format!("{}: the trial run was too short to tell whether the run diverges", group.label));
    }
    list.push("how accurate results will be".to_owned());
    list
}
