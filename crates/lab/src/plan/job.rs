//! One run of a plan.

use super::{Group, Plan};

/// One run of a plan: a group with a seed.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The number of the run, counted from 0 over all groups and seeds.
    pub run: usize,
    /// The group that the run belongs to.
    pub group: &'a Group,
    /// The seed of the run.
    pub seed: u64,
    /// The plan that the run belongs to.
    pub plan: &'a Plan,
}

impl Plan {
    /// Every run of the plan, in the order of their numbers.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = Job<'_>> {
        self.runs().enumerate().map(move |(run, (group, seed))| Job { run, group, seed, plan: self })
    }
}
