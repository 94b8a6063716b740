//! Before the first run of a plan: every group is set up once, and all runs have to fit in memory.

use std::sync::Arc;

use fabnet_core::{Problem, Scalar};

use crate::estimate::{Needs, bytes};
use crate::job::{JobError, check_target};
use crate::memory::Memory;
use crate::plan::{Group, Part, Plan, Precision};
use crate::setup::{Brings, Setup, SetupError, make_problem};

/// Refuses a plan of which a run could not be carried out: every group is set up with the first
/// seed, so that no run begins before all are known to be possible.
pub fn preflight(plan: &Plan, threads: usize) -> Result<(), JobError> {
    let (mut double, mut single) = (Known::<f64>::default(), Known::<f32>::default());
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
    match Memory::here() {
        Some(Memory { available, .. }) if largest * parallel as f64 > available => {
            let message = too_many(parallel, largest * parallel as f64, available, (available / largest) as usize);
            Err(SetupError::Impossible(message).into())
        }
        _ => Ok(()),
    }
}

/// How many of so many runs are carried out at the same time.
pub(crate) fn parallel_runs(runs: usize, threads: usize) -> usize {
    threads.min(runs).max(1)
}

/// Why so many runs at the same time are too many for the memory, and what to do.
pub(crate) fn too_many(parallel: usize, needed: f64, available: f64, fitting: usize) -> String {
    let advice = match fitting {
        0 => "one of them alone is too large: take fewer agents, fewer links or precision = \"f32\"".to_owned(),
        fitting => format!("give --threads {fitting}, so that fewer run at a time"),
    };
    format!(
        "{parallel} runs at a time need about {} of memory, but {} are available: {advice}",
        bytes(needed),
        bytes(available)
    )
}

/// The problem of the last group, which is often that of the next.
struct Known<T: Scalar> {
    last: Option<(usize, Part, Arc<dyn Problem<T>>)>,
}

impl<T: Scalar> Default for Known<T> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<T: Scalar> Known<T> {
    /// Sets a group up, and says what a run of it needs.
    fn set_up(&mut self, plan: &Plan, group: &Group) -> Result<Needs, JobError> {
        let alike = |(agents, part, _): &&(usize, Part, _)| (*agents, part) == (group.agents, &group.problem);
        let known = self.last.as_ref().filter(alike).map(|(_, _, problem)| problem.clone());
        let problem = known.map_or_else(|| make_problem(group, plan.seeds[0]), Ok)?;
        self.last = Some((group.agents, group.problem.clone(), problem.clone()));
        let brings = Brings { problem: Some(problem), ..Brings::default() };
        let setup = Setup::<T>::of(group, plan.seeds[0], brings)?;
        if let Some(target) = &plan.target {
            check_target(target, group, &setup.engine()?.view())?;
        }
        Ok(setup.needs())
    }
}
