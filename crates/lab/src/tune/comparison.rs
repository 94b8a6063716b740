//! Comparing settings by their runs.

use std::path::Path;

use super::candidate::{Candidate, with_steps};
use super::error::TuneError;
use super::objective::{Objective, Score};
use crate::plan::{Group, Plan, SavedSolutions};
use crate::results::Folder;
use crate::run::{Progress, RunOptions, carry_out_runs};

/// Compares the settings of one group, within a budget.
pub(super) struct Comparison<'a> {
    pub(super) plan: &'a Plan,
    pub(super) objective: &'a Objective,
    pub(super) options: RunOptions,
    /// The folder for the runs of comparisons.
    pub(super) scratch: &'a Path,
    pub(super) progress: &'a dyn Progress,
    /// The number of runs that the budget leaves.
    pub(super) left: usize,
    /// The number of runs that were carried out.
    pub(super) runs: usize,
    /// The rounds of a run: a setting that needs more cannot be the best any more.
    pub(super) rounds: u64,
}

impl Comparison<'_> {
    /// The best of these candidates and of the one to beat, as far as the budget goes. Candidates
    /// that were tried before are left out.
    pub(super) fn best_of(
        &mut self,
        group: &Group,
        names: &[&'static str],
        to_beat: Option<(Candidate, Score)>,
        candidates: &[Candidate],
        tried: &mut Vec<Candidate>,
    ) -> Result<Option<(Candidate, Score)>, TuneError> {
        let seeds = self.plan.seeds.clone();
        let mut fresh: Vec<Candidate> =
            candidates.iter().copied().filter(|candidate| !tried.contains(candidate)).collect();
        fresh.truncate(self.left / seeds.len());
        self.left -= fresh.len() * seeds.len();
        tried.extend(&fresh);
        let groups: Vec<Group> = fresh.iter().map(|candidate| with_steps(group, names, *candidate)).collect();
        let mut best = to_beat;
        for (candidate, score) in fresh.into_iter().zip(self.scores(&groups, &seeds)?) {
            if best.is_none_or(|(_, best)| score < best) {
                best = Some((candidate, score));
            }
        }
        if let Some((_, Score { failed: 0, rounds: Some(rounds), .. })) = best {
            // A setting that needs twice the rounds of the best one has lost: its runs stop there.
            self.rounds = self.rounds.min((2.0 * rounds) as u64).max(1);
        }
        Ok(best)
    }

    /// The scores of groups, in order, on these seeds.
    pub(super) fn scores(&mut self, groups: &[Group], seeds: &[u64]) -> Result<Vec<Score>, TuneError> {
        let numbered = |(number, group): (usize, &Group)| Group {
            label: format!("{} #{number}", group.label),
            rounds: self.rounds,
            ..group.clone()
        };
        let groups = groups.iter().enumerate().map(numbered).collect();
        let plan = Plan { groups, seeds: seeds.to_vec(), solutions: SavedSolutions::None, ..self.plan.clone() };
        let folder = Folder::new(&self.scratch.join(format!("race-{}", self.runs)));
        folder.begin(&plan)?;
        self.runs += plan.groups.len() * plan.seeds.len();
        let report = carry_out_runs(&plan, &folder, self.options, self.progress)?;
        folder.end()?;
        if report.interrupted {
            return Err(TuneError::Interrupted);
        }
        Ok(report.summary.groups.iter().map(|group| self.objective.score(group)).collect())
    }
}
