//! `fabnet report`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_lab::report;

use crate::failure::Usage;
use crate::say::say;

#[derive(Args)]
#[command(after_help = "Example:
  fabnet report experiments/paper/REPRODUCTION.template.md --runs runs/reproduction > REPRODUCTION.md

In the template, {{ RUN | LABEL | PATH }} becomes a number of RUN/summary.json, such as {{ comparison | fab | final.relative_error.median }};
with `in LOW..HIGH` behind PATH the report is refused when the number is elsewhere.")]
pub(crate) struct Report {
    /// The document with places for numbers
    template: PathBuf,
    /// The folder with the folders of results
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
}

impl Report {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let path = self.template.display();
        let template = std::fs::read_to_string(&self.template)
            .map_err(|error| Usage(format!("{path}: cannot be read ({error}): check the path")))?;
        say(report(&template, &self.runs).with_context(|| path.to_string())?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}
