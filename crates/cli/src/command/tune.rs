//! `fabnet tune`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_lab::{Pace, Plan, Score, tune};

use super::{Changes, Threads};
use crate::failure::Usage;
use crate::progress::Progress;
use crate::say::say;
use crate::table::aligned;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet tune experiments/tune.toml --budget 200
  fabnet run policy-evaluation-tuned.toml

Two tiers: first the penalty by large intervals, then the steps of x and of the lower variables, which share one, by factors of two.
Settings that need twice the rounds of the best so far are stopped. What is best: fewest failed runs, then fewest rounds to [stop], then the
smallest last value of its metric (without [stop], of the first one recorded).")]
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
        let tunings = tune(&plan, self.budget, Pace::new(self.threads.count()), &scratch, &progress);
        drop(progress);
        // Nothing depends on it any more, and what cannot be removed is in a folder for such things.
        let _ = std::fs::remove_dir_all(&scratch);
        let tunings = tunings?;
        let tuned = Plan {
            name: format!("{}-tuned", plan.name),
            groups: tunings.iter().map(|tuning| tuning.best.clone()).collect(),
            ..plan.clone()
        };
        std::fs::write(&out, tuned.to_toml()).with_context(|| format!("{} cannot be written", out.display()))?;
        if !self.quiet {
            for (group, tuning) in plan.groups.iter().zip(&tunings) {
                say(format!("{} ({} runs)\n{}", group.label, tuning.runs, compared(&tuning.compared)));
            }
            say(format!("written to {0}; run it with: fabnet run {0}", out.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn compared(scores: &[(String, Score)]) -> String {
    let head = ["", "failed runs", "rounds (median)", "last value (median)"].map(str::to_owned).to_vec();
    let row = |(name, score): &(String, Score)| {
        vec![name.clone(), score.failed.to_string(), score.rounds.to_string(), format!("{:.3e}", score.value)]
    };
    aligned(&std::iter::once(head).chain(scores.iter().map(row)).collect::<Vec<_>>())
}
