//! `fabnet check`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::check;

use super::{Changes, Threads};
use crate::failure::IMPOSSIBLE;
use crate::say::say;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet check experiments/paper/sensitivity.toml
  fabnet check experiments/first.toml --json

Besides facts on network, step sizes and cost, it makes trial runs: at most one in 20 of a run's rounds, with up to three seeds,
20 seconds for all groups together (one at least for each). It says what they show, and what was not checked.
Exit code 1 if the run cannot work, for instance because the agents are never jointly strongly connected or the memory does not suffice.")]
pub(crate) struct Check {
    /// The experiment file
    file: PathBuf,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON for scripts
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let check = check(&self.changes.read(&self.file)?.plan()?, self.threads.count())?;
        if self.json {
            say(serde_json::to_string_pretty(&check)?);
        } else {
            say(&check);
        }
        Ok(ExitCode::from(if check.obstacles.is_empty() { 0 } else { IMPOSSIBLE }))
    }
}
