//! `fabnet report`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{Reduced, reduce, report};

use crate::failure::{IMPOSSIBLE, Usage};
use crate::say::say;

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet report experiments/paper/REPRODUCTION.template.md --runs runs/reproduction --reduce experiments/paper/summaries
  fabnet report experiments/paper/REPRODUCTION.template.md --runs experiments/paper/summaries > REPRODUCTION.md

In the template, {{ RUN | LABEL | PATH }} becomes a number of RUN/summary.json, such as {{ comparison | fab | final.relative_error.median }};
with `in LOW..HIGH` behind PATH the report is refused when the number is elsewhere. --reduce writes only the numbers that the template
needs, so that the document can be made again without the runs.")]
pub(crate) struct Report {
    /// The document with places for numbers
    template: PathBuf,
    /// The folder with the folders of results, or with reduced summaries
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Instead of the document, write a reduced summary of each run into this folder
    #[arg(long, value_name = "DIR")]
    reduce: Option<PathBuf>,
}

/// The file of a folder of reduced summaries that lists what is not there yet.
const MISSING: &str = "MISSING";

impl Report {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let path = self.template.display();
        let template = fs::read_to_string(&self.template)
            .map_err(|error| Usage(format!("{path}: cannot be read ({error}): check the path")))?;
        if let Some(folder) = &self.reduce {
            return write(folder, &reduce(&template, &self.runs).with_context(|| path.to_string())?);
        }
        say(report(&template, &self.runs).with_context(|| path.to_string())?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes reduced summaries. Those that were there stay if their runs are not; what is not there at all is listed.
fn write(folder: &Path, reduced: &Reduced) -> anyhow::Result<ExitCode> {
    let files: &dyn Files = &SystemFiles::SHARED;
    files.create_folder(folder).with_context(|| folder.display().to_string())?;
    let write = |name: String, text: &str| {
        let path = folder.join(name);
        files.write_whole(&path, text.as_bytes()).with_context(|| path.display().to_string())
    };
    for (run, summary) in &reduced.summaries {
        write(format!("{run}.json"), summary)?;
    }
    let missing = reduced.missing.iter().filter(|run| !folder.join(format!("{run}.json")).exists());
    let missing = missing.map(|run| format!("{run}\n")).collect::<Vec<_>>().concat();
    say(format!("{}: {} reduced summaries", folder.display(), reduced.summaries.len()));
    if reduced.missing.is_empty() {
        files.remove_if_there(&folder.join(MISSING))?;
        return Ok(ExitCode::SUCCESS);
    }
    write(MISSING.to_owned(), &missing)?;
    let runs: Vec<&str> = reduced.missing.iter().map(String::as_str).collect();
    eprintln!("error: these runs have no summary.json: {}", runs.join(", "));
    Ok(ExitCode::from(IMPOSSIBLE))
}
