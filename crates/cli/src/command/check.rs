//! `fabnet check`: reports what can be known about an experiment before it is run.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::check;

use super::options::{Overrides, Threads};
use crate::exit_code::FAILURE;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet check experiments/paper/sensitivity.toml
  fabnet check experiments/first.toml --json

The report has facts about the network, the step sizes and the cost. It also has the result of trial \
runs: at most one in 20 of the rounds of a run, with up to three seeds, within 20 seconds for all \
groups together (at least one second for each). The report ends with what was not checked.

The exit code is 1 if the run cannot work, for instance because the agents are never jointly strongly \
connected or because there is too little memory.")]
pub(crate) struct Check {
    /// The experiment file
    file: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    threads: Threads,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let check = check(&self.overrides.read(&self.file)?.plan()?, self.threads.count())?;
        if self.json {
            print_line(serde_json::to_string_pretty(&check)?);
        } else {
            print_line(&check);
        }
        Ok(ExitCode::from(if check.obstacles.is_empty() { 0 } else { FAILURE }))
    }
}
