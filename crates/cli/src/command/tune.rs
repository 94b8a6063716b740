//! `fabnet tune`: searches for step sizes, and writes an experiment file with them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{Objective, Plan, RunOptions, Score, Tuned, tune};

use super::options::{Overrides, Threads};
use crate::exit_code::UsageError;
use crate::output::print_line;
use crate::progress::Progress;
use crate::table::aligned;

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet tune experiments/tune.toml --budget 200
  fabnet run policy-evaluation-tuned.toml

The search has two tiers: first the penalty in large intervals, then by factors of two the step size \
of x and the common step size of the lower variables. Settings that need twice the rounds of the best \
one so far are stopped.

With [stop], the best setting has the fewest failed runs, then the fewest rounds to the target, then \
the smallest last value of its metric. Without [stop], it has the fewest diverged runs, then the \
smallest last value of the first recorded metric.

At the end the given setting and the tuned one are compared on seeds that were not used for tuning; \
these runs do not count towards the budget. The given setting is kept unless the tuned one is better \
on these seeds.")]
pub(crate) struct Tune {
    /// The experiment file; each of its groups is tuned on its seeds
    file: PathBuf,
    /// The largest number of runs for each group
    #[arg(long, value_name = "N", default_value_t = 300)]
    budget: usize,
    /// The file for the tuned experiment; if not given, NAME-tuned.toml
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    threads: Threads,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Tune {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = self.overrides.read(&self.file)?.plan()?;
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-tuned.toml", plan.name)));
        if out.exists() {
            return Err(UsageError(format!("{} exists already: choose another --out", out.display())).into());
        }
        let tuned = self.search(&plan)?;
        let better = tuned.groups.iter().any(|group| !group.kept);
        if better {
            write_tuned(&plan, &tuned, &out)?;
        }
        if !self.quiet {
            print_line(report(&plan, &tuned));
            print_line(conclusion(better, &out));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn search(&self, plan: &Plan) -> anyhow::Result<Tuned> {
        let scratch = std::env::temp_dir().join(format!("fabnet-tune-{}", std::process::id()));
        let progress = Progress::new(self.quiet)?;
        let tuned = tune(plan, self.budget, RunOptions::new(self.threads.count()), &scratch, &progress);
        // The results do not depend on this folder any more; if it cannot be removed, the system
        // cleans up its folder of temporary files.
        let _ = std::fs::remove_dir_all(&scratch);
        Ok(tuned?)
    }
}

/// Says where the tuned settings are, if they are better than the given ones.
fn conclusion(better: bool, out: &Path) -> String {
    if better {
        format!("written to {0}; run it with: fabnet run {0}", out.display())
    } else {
        "nothing was written: no setting is better than the given ones on seeds that were not tuned on".to_owned()
    }
}

/// Writes the experiment with the best settings that were found.
fn write_tuned(plan: &Plan, tuned: &Tuned, out: &Path) -> anyhow::Result<()> {
    let groups = tuned.groups.iter().map(|group| group.best.clone()).collect();
    let written = Plan { name: format!("{}-tuned", plan.name), groups, ..plan.clone() };
    let files: &dyn Files = &SystemFiles::SHARED;
    files.write_whole(out, written.to_toml().as_bytes()).with_context(|| format!("{} cannot be written", out.display()))
}

/// Describes the comparison on held-out seeds, group by group.
fn report(plan: &Plan, tuned: &Tuned) -> String {
    let seeds = tuned.held_out.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![tuned.objective.to_string(), format!("compared on seeds that were not tuned on: {seeds}")];
    for (group, tuning) in plan.groups.iter().zip(&tuned.groups) {
        lines.push(format!("{} ({} runs)", group.label, tuning.runs));
        lines.push(comparison(&tuned.objective, &tuning.compared));
        if tuning.kept {
            lines.push("the tuned setting is not better on these seeds: the given one is kept".to_owned());
        }
    }
    lines.join("\n")
}

fn comparison(objective: &Objective, scores: &[(String, Score)]) -> String {
    let head: &[&str] = match objective {
        Objective::Rounds { .. } => &["", "failed runs", "rounds (median)", "last value (median)"],
        Objective::Last { .. } => &["", "diverged runs", "last value (median)"],
    };
    let head = head.iter().map(|&name| name.to_owned()).collect();
    let row = |(name, score): &(String, Score)| {
        let rounds = score.rounds.map(|rounds| if rounds.is_finite() { rounds.to_string() } else { "–".to_owned() });
        let first = [name.clone(), score.failed.to_string()];
        first.into_iter().chain(rounds).chain([format!("{:.3e}", score.value)]).collect()
    };
    aligned(&std::iter::once(head).chain(scores.iter().map(row)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(rounds: [Option<f64>; 2]) -> Vec<(String, Score)> {
        let score = |rounds| Score { failed: 1, rounds, value: 0.25 };
        vec![("given".to_owned(), score(rounds[0])), ("tuned".to_owned(), score(rounds[1]))]
    }

    #[test]
    fn rounds_are_compared_only_with_a_target() {
        let objective = Objective::Rounds { metric: "relative_error".to_owned() };
        let table = comparison(&objective, &scores([Some(40.0), Some(f64::INFINITY)]));
        let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
        let expected = [
            "       failed runs  rounds (median)  last value (median)",
            "given            1               40             2.500e-1",
            "tuned            1                –             2.500e-1",
        ];
        assert_eq!(lines, expected);
        let table = comparison(&Objective::Last { metrics: vec!["upper".to_owned()] }, &scores([None, None]));
        assert_eq!(table.lines().next(), Some("       diverged runs  last value (median)"));
        assert_eq!(table.lines().nth(1), Some("given              1             2.500e-1"));
    }
}
