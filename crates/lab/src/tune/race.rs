//! Settings against each other.

use std::path::Path;

use super::setting::{Setting, with_steps};
use super::{Objective, Score};
use crate::folder::Folder;
use crate::job::{JobError, Witness};
use crate::plan::{Group, Plan};
use crate::runner::{Pace, carry_out_runs};
use crate::setup::SetupError;
use crate::solution::Solutions;
use crate::summary::{GroupSummary, Middle};

/// The search for one group.
pub(super) struct Race<'a> {
    pub(super) plan: &'a Plan,
    pub(super) objective: &'a Objective,
    pub(super) pace: Pace,
    pub(super) scratch: &'a Path,
    pub(super) witness: &'a dyn Witness,
    /// Runs that the budget leaves.
    pub(super) left: usize,
    pub(super) runs: usize,
    /// What nobody needs to exceed any more.
    pub(super) rounds: u64,
}

impl Race<'_> {
    /// The best of these settings and the one to beat, as far as the budget goes.
    pub(super) fn better(
        &mut self,
        group: &Group,
        names: &[&'static str],
        to_beat: Option<(Setting, Score)>,
        settings: &[Setting],
        tried: &mut Vec<Setting>,
    ) -> Result<Option<(Setting, Score)>, JobError> {
        let seeds = self.plan.seeds.clone();
        let mut fresh: Vec<Setting> = settings.iter().copied().filter(|setting| !tried.contains(setting)).collect();
        fresh.truncate(self.left / seeds.len());
        self.left -= fresh.len() * seeds.len();
        tried.extend(&fresh);
        let candidates: Vec<Group> = fresh.iter().map(|setting| with_steps(group, names, *setting)).collect();
        let mut best = to_beat;
        for (setting, score) in fresh.into_iter().zip(self.race(&candidates, &seeds)?) {
            if best.is_none_or(|(_, best)| score < best) {
                best = Some((setting, score));
            }
        }
        if let Some((_, Score { failed: 0, rounds: Some(rounds), .. })) = best {
            // Who needs twice the rounds of the best has lost.
            self.rounds = self.rounds.min((2.0 * rounds) as u64).max(1);
        }
        Ok(best)
    }

    /// The scores of groups, in order, on these seeds.
    pub(super) fn race(&mut self, candidates: &[Group], seeds: &[u64]) -> Result<Vec<Score>, JobError> {
        let numbered = |(number, group): (usize, &Group)| Group {
            label: format!("{} #{number}", group.label),
            rounds: self.rounds,
            ..group.clone()
        };
        let groups = candidates.iter().enumerate().map(numbered).collect();
        let plan = Plan { groups, seeds: seeds.to_vec(), solutions: Solutions::None, ..self.plan.clone() };
        let folder = Folder::new(&self.scratch.join(format!("race-{}", self.runs)));
        folder.begin(&plan)?;
        self.runs += plan.groups.len() * plan.seeds.len();
        let report = carry_out_runs(&plan, &folder, self.pace, self.witness)?;
        folder.end()?;
        if report.interrupted {
            return Err(SetupError::Impossible("interrupted: nothing was written".to_owned()).into());
        }
        Ok(report.summary.groups.iter().map(|group| self.score(group)).collect())
    }

    fn score(&self, group: &GroupSummary) -> Score {
        let last = |metric: &String| group.last.get(metric).and_then(|spread| spread.median);
        let (failed, rounds, value) = match self.objective {
            Objective::Rounds { metric } => {
                let Middle { median, .. } = group.reached_at;
                (group.runs - group.reached, Some(median.unwrap_or(f64::INFINITY)), last(metric))
            }
            // The error is not known on every problem.
            Objective::Last { metrics } => (group.diverged, None, metrics.iter().find_map(last)),
        };
        Score { failed, rounds, value: value.unwrap_or(f64::INFINITY) }
    }
}
