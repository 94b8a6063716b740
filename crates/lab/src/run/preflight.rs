//! Before the first run of a plan: every group is set up once, and all runs have to fit in memory.

use std::sync::Arc;

use fabnet_core::{Problem, Scalar};

use super::custom_parts::CustomParts;
use super::job_error::JobError;
use super::problem_setup::make_problem;
use super::run_metrics::check_target;
use super::setup::Setup;
use super::setup_error::SetupError;
use crate::estimate::{MemoryNeeds, TooManyRuns};
use crate::memory::Memory;
use crate::plan::{Group, Plan, PlanEntry, Precision};

/// Refuses a plan with a run that could not be carried out: every group is set up with the first
/// seed, so that no run begins before all are known to be possible.
pub fn preflight(plan: &Plan, threads: usize) -> Result<(), JobError> {
    let (mut double, mut single) = (LastProblem::<f64>::default(), LastProblem::<f32>::default());
    let mut largest: f64 = 0.0;
    for group in &plan.groups {
        let needs = match group.precision {
            Precision::F64 => double.set_up(plan, group),
            Precision::F32 => single.set_up(plan, group),
        };
        let needs = needs.map_err(|error| if plan.groups.len() > 1 { error.in_group(&group.label) } else { error })?;
        largest = largest.max(needs.bytes());
    }
    let parallel = parallel_runs(plan.groups.len() * plan.seeds.len(), threads);
    let available = Memory::here().map(|memory| memory.available);
    TooManyRuns::check(parallel, largest, available).map_err(|error| SetupError::from(error).into())
}

/// How many runs are carried out at the same time, if there are this many.
pub(crate) fn parallel_runs(runs: usize, threads: usize) -> usize {
    threads.min(runs).max(1)
}

/// The problem of the last group, which is often that of the next group, too.
struct LastProblem<T: Scalar> {
    last: Option<(usize, PlanEntry, Arc<dyn Problem<T>>)>,
}

impl<T: Scalar> Default for LastProblem<T> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<T: Scalar> LastProblem<T> {
    /// Sets a group up, and returns the memory that a run of it needs.
    fn set_up(&mut self, plan: &Plan, group: &Group) -> Result<MemoryNeeds, JobError> {
        let alike = |(agents, entry, _): &&(usize, PlanEntry, _)| (*agents, entry) == (group.agents, &group.problem);
        let known = self.last.as_ref().filter(alike).map(|(_, _, problem)| problem.clone());
        let problem = known.map_or_else(|| make_problem(group, plan.seeds[0]), Ok)?;
        self.last = Some((group.agents, group.problem.clone(), problem.clone()));
        let parts = CustomParts { problem: Some(problem), ..CustomParts::default() };
        let setup = Setup::<T>::of(group, plan.seeds[0], parts)?;
        if let Some(target) = &plan.target {
            check_target(target, group, &setup.simulator()?.view())?;
        }
        Ok(setup.needs())
    }
}
