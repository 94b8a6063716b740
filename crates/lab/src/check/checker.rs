//! Checking a plan, group by group.

use fabnet_core::peer::{Contents, WireFormat, WordLength};
use fabnet_core::{Mask, ProblemExt, Scalar};

use super::criteria::StepSizes;
use super::divergence::divergence;
use super::network::NetworkReport;
use super::not_checked::not_checked;
use super::report::{Check, GroupReport, Total, Verdict};
use super::trial::{Trial, trial};
use super::trial_plan::PART;
use super::warning::Warning;
use crate::estimate::{MemoryNeeds, TooManyRuns};
use crate::memory::Memory;
use crate::plan::{Group, Plan, Precision};
use crate::registry::make_network;
use crate::run::{JobError, Setup, SetupError, Stopwatch, parallel_runs};
use crate::scales;

/// The largest number of seeds that are tried.
const SEEDS: usize = 3;
/// The seconds that all trial runs together may take.
const SECONDS: f64 = 20.0;
/// The seconds that the trial runs of one group may take in any case.
const LEAST_SECONDS: f64 = 1.0;

/// Looks at every group, and makes a trial run of it for each of the first seeds.
pub fn check(plan: &Plan, threads: usize) -> Result<Check, JobError> {
    let watch = Stopwatch::start();
    let mut check = Check::new(plan, threads);
    for group in &plan.groups {
        let one = match group.precision {
            Precision::F64 => check.add_group::<f64>(plan, group),
            Precision::F32 => check.add_group::<f32>(plan, group),
        };
        match one {
            Ok(()) => {}
            Err(invalid) if invalid.is_invalid() => return Err(invalid.into()),
            Err(impossible) => check.add_obstacle(impossible.to_string()),
        }
    }
    check.finish(plan, watch.seconds());
    Ok(check)
}

impl Check {
    /// The version of the JSON form.
    const FORMAT: u32 = 1;

    /// A check that has not looked at any group yet.
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

    /// Adds what is known of a group.
    fn add_group<T: Scalar>(&mut self, plan: &Plan, group: &Group) -> Result<(), SetupError> {
        self.add_network(group, plan.seeds[0])?;
        let setup = Setup::<T>::new(group, plan.seeds[0])?;
        let needs = setup.needs();
        if let Some(available) = self.total.available_bytes.filter(|available| needs.bytes() > *available) {
            return Err(needs.shortage(group.agents, &group.topology.kind, available).into());
        }
        let report = GroupReport::new(group, &setup, try_seeds(plan, group, &setup)?);
        self.warnings.extend(divergence(&report, setup.problem.optimum().is_some()));
        self.groups.push(report);
        Ok(())
    }

    /// Adds what is known of a group's network, unless another group has the same one.
    fn add_network(&mut self, group: &Group, seed: u64) -> Result<(), SetupError> {
        let key = NetworkReport::key(group)?;
        if self.networks.iter().any(|known| known.key == key) {
            return Ok(());
        }
        let network = make_network(group, seed)?;
        MemoryNeeds::of_network(&*network.topology).refuse_impossible(group.agents, &group.topology.kind)?;
        let report = NetworkReport::new(group, &network, key);
        match report.judge(network.may_be_disconnected) {
            Ok(warnings) => self.warnings.extend(warnings),
            Err(obstacle) => self.add_obstacle(obstacle.to_string()),
        }
        self.networks.push(report);
        Ok(())
    }

    /// Adds something that cannot work, once.
    fn add_obstacle(&mut self, message: String) {
        if !self.obstacles.contains(&message) {
            self.obstacles.push(message);
        }
    }

    /// Adds up the costs, says what was not checked, and judges.
    fn finish(&mut self, plan: &Plan, seconds: f64) {
        let seeds = plan.seeds.len() as f64;
        let parallel = self.total.parallel as f64;
        self.total.seconds = self.groups.iter().map(|group| group.seconds).sum::<f64>() * seeds / parallel;
        let largest = self.groups.iter().map(|group| group.needs.bytes()).fold(0.0, f64::max);
        self.total.memory_bytes = largest * parallel;
        if let Err(error) = TooManyRuns::check(self.total.parallel, largest, self.total.available_bytes) {
            self.add_obstacle(error.to_string());
        }
        self.not_checked = not_checked(plan, &self.groups);
        self.seconds = seconds;
        self.verdict = match (self.obstacles.is_empty(), self.warnings.is_empty()) {
            (false, _) => Verdict::Impossible,
            (true, false) => Verdict::Warnings,
            (true, true) => Verdict::Ok,
        };
    }
}

impl GroupReport {
    /// The report on a group that is set up, with its trial runs.
    fn new<T: Scalar>(group: &Group, setup: &Setup<T>, trials: Vec<Trial>) -> Self {
        let dim = setup.problem.dim();
        let seconds_per_round = trials.iter().map(Trial::seconds_per_round).fold(0.0, f64::max);
        let bytes_per_round = trials.iter().map(|trial| trial.bytes_per_round).fold(0.0, f64::max);
        Self {
            label: group.label.clone(),
            algorithm: group.algorithm.kind.clone(),
            problem: group.problem.kind.clone(),
            outer: dim.outer,
            inner: dim.inner,
            noisy: setup.problem.noisy(),
            rounds: group.rounds,
            step_sizes: StepSizes::new(group, setup),
            trials,
            needs: setup.needs(),
            message_bytes: setup.algorithm.message_bytes(setup.algorithm.segments(0).sent(Mask::ALL)),
            word_bytes: word_bytes::<T>(group, setup),
            bytes_per_agent: bytes_per_round * group.rounds as f64,
            seconds: seconds_per_round * group.rounds as f64,
        }
    }
}

/// The bytes of a message's payload by the bits of its words, if there are messages.
fn word_bytes<T: Scalar>(group: &Group, setup: &Setup<T>) -> Vec<(u32, usize)> {
    if group.network.is_none() && group.faults.is_none() {
        return Vec::new();
    }
    let all = Contents { pulled: true, mass: true, ..Contents::default() };
    let payload = |words: WordLength| {
        let format = WireFormat::new(0, group.agents, &setup.algorithm.segments(0), words);
        (words.bits(), format.payload(Mask::ALL, all, T::BYTES))
    };
    let bears = setup.algorithm.bears_rounding();
    WordLength::ALL.into_iter().rev().filter(|&words| bears || words == WordLength::Full).map(payload).collect()
}

/// Makes trial runs with the first seeds, as far as the time allows.
fn try_seeds<T: Scalar>(plan: &Plan, group: &Group, first: &Setup<T>) -> Result<Vec<Trial>, SetupError> {
    if group.rounds < PART {
        return Ok(Vec::new());
    }
    let limit = (SECONDS / plan.groups.len() as f64).max(LEAST_SECONDS);
    let mut trials = vec![trial(first, group, limit)?];
    let watch = Stopwatch::start();
    for &seed in plan.seeds.iter().take(SEEDS).skip(1) {
        let left = limit - trials[0].seconds - watch.seconds();
        if left < trials[0].seconds {
            break;
        }
        trials.push(trial(&Setup::<T>::new(group, seed)?, group, left)?);
    }
    Ok(trials)
}
