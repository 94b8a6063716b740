//! `fabnet report`: documents whose numbers come from summaries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{Reduced, reduce, report};

use super::existing::require_folder;
use crate::exit_code::{FAILURE, UsageError};
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet report template.md --runs runs --reduce summaries
  fabnet report experiments/paper/REPRODUCTION.template.md --runs experiments/paper/summaries

In the template, {{ RUN | LABEL | PATH }} becomes a number of RUN/summary.json, for example \
{{ comparison | fab | final.relative_error.median }}. With `in LOW..HIGH` after PATH, the report is \
refused if the number is outside that range.

--reduce writes only the numbers that the template needs, so that the document can be made again \
without the runs.")]
pub(crate) struct Report {
    /// The template of the document
    template: PathBuf,
    /// The folder that holds the folders of results, or reduced summaries
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Write a reduced summary of each run into this folder, and no document
    #[arg(long, value_name = "DIR")]
    reduce: Option<PathBuf>,
}

/// The file in a folder of reduced summaries that lists the missing ones.
const MISSING: &str = "MISSING";

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let path = self.template.display();
        let template = fs::read_to_string(&self.template)
            .map_err(|error| UsageError(format!("{path}: cannot be read ({error}): check the path")))?;
        require_folder(&self.runs)?;
        if let Some(folder) = &self.reduce {
            return write_reduced(folder, &reduce(&template, &self.runs).with_context(|| path.to_string())?);
        }
        print_line(report(&template, &self.runs).with_context(|| path.to_string())?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes reduced summaries. A summary from before stays if its run is missing now; runs without
/// any summary are listed in a file.
fn write_reduced(folder: &Path, reduced: &Reduced) -> anyhow::Result<ExitCode> {
    let files: &dyn Files = &SystemFiles::SHARED;
    let file_of = |run: &String| folder.join(format!("{run}.json"));
    files.create_folder(folder).with_context(|| folder.display().to_string())?;
    for (run, summary) in &reduced.summaries {
        write(files, &file_of(run), summary)?;
    }
    print_line(format!("{}: {} reduced summaries", folder.display(), reduced.summaries.len()));
    let list = folder.join(MISSING);
    if reduced.missing.is_empty() {
        files.remove_if_there(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let missing = reduced.missing.iter().filter(|run| !file_of(run).exists());
    write(files, &list, &missing.map(|run| format!("{run}\n")).collect::<Vec<_>>().concat())?;
    let runs: Vec<&str> = reduced.missing.iter().map(String::as_str).collect();
    eprintln!("error: these runs have no summary.json, or were stopped: {}", runs.join(", "));
    Ok(ExitCode::from(FAILURE))
}

fn write(files: &dyn Files, path: &Path, text: &str) -> anyhow::Result<()> {
    files.write_whole(path, text.as_bytes()).with_context(|| path.display().to_string())
}
