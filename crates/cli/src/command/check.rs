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

Exit code 1 if the run cannot work, for instance because the agents are never jointly strongly connected.")]
pub(crate) struct Check {
    /// The experiment file
    file: PathBuf,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    threads: Threads,
}

impl Check {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let check = check(&self.changes.read(&self.file)?.plan()?, self.threads.count())?;
        say(check.text.trim_end());
        Ok(ExitCode::from(if check.obstacles.is_empty() { 0 } else { IMPOSSIBLE }))
    }
}
