//! `fabnet tune`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{Objective, Pace, Plan, Score, Tuned, tune};

use super::{Changes, Threads};
use crate::failure::Usage;
use crate::progress::Progress;
use crate::say::say;
use crate::table::aligned;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet tune experiments/tune.toml --budget 200
  fabnet run policy-evaluation-tuned.toml

Two tiers: first the penalty by large intervals, then the step sizes of x and of the lower variables, which share one, by factors of two.
Settings that need twice the rounds of the best so far are stopped. What is best: fewest failed runs, then fewest rounds to [stop], then the
smallest last value of its metric. Without [stop], fewest diverged runs, then the smallest last value of the first metric recorded.
In the end the given setting and the tuned one are compared on seeds that were not tuned on, beyond the budget: the given one is kept unless the
tuned one is better there.")]
pub(crate) struct Tune {
    /// The experiment file; each of its groups is tuned on its seeds
    file: PathBuf,
    /// Runs at most, for each group
    #[arg(long, value_name = "N", default_value_t = 300)]
    budget: usize,
    /// Where the tuned experiment goes; NAME-tuned.toml if not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    threads: Threads,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Tune {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let plan = self.changes.read(&self.file)?.plan()?;
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-tuned.toml", plan.name)));
        if out.exists() {
            return Err(Usage(format!("{} exists already: choose another --out", out.display())).into());
        }
        let scratch = std::env::temp_dir().join(format!("fabnet-tune-{}", std::process::id()));
        let progress = Progress::new(self.quiet)?;
        let tuned = tune(&plan, self.budget, Pace::new(self.threads.count()), &scratch, &progress);
        drop(progress);
        // Nothing depends on it any more, and what cannot be removed is in a folder for such things.
        let _ = std::fs::remove_dir_all(&scratch);
        let tuned = tuned?;
        let better = tuned.groups.iter().any(|group| !group.kept);
        if better {
            let groups = tuned.groups.iter().map(|group| group.best.clone()).collect();
            let written = Plan { name: format!("{}-tuned", plan.name), groups, ..plan.clone() };
            let files: &dyn Files = &SystemFiles::SHARED;
            let toml = written.to_toml();
            files.write_whole(&out, toml.as_bytes()).with_context(|| format!("{} cannot be written", out.display()))?;
        }
        if !self.quiet {
            say(report(&plan, &tuned));
            say(if better {
                format!("written to {0}; run it with: fabnet run {0}", out.display())
            } else {
                "nothing was written: no setting is better than the given ones on seeds that were not tuned on".into()
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn report(plan: &Plan, tuned: &Tuned) -> String {
    let seeds = tuned.held_out.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![tuned.objective.to_string(), format!("compared on seeds that were not tuned on: {seeds}")];
    for (group, tuning) in plan.groups.iter().zip(&tuned.groups) {
        lines.push(format!("{} ({} runs)", group.label, tuning.runs));
        lines.push(compared(&tuned.objective, &tuning.compared));
        if tuning.kept {
            lines.push("the tuned setting is not better on these seeds: the given one is kept".to_owned());
        }
    }
    lines.join("\n")
}

fn compared(objective: &Objective, scores: &[(String, Score)]) -> String {
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
