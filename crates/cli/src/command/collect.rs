//! `fabnet collect`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_host::track_path;
use fabnet_lab::{Collection, Experiment, Folder, JobError, Plan, Summary, collect, conclude};

use super::run::new_folder;
use crate::failure::Usage;
use crate::say::say;
use crate::table;

#[derive(Args)]
#[command(after_help = "Examples, with the state folders of three machines copied to here:
  fabnet collect experiment.toml alpha/state beta/state gamma/state --out runs/together
  fabnet collect experiment.toml alpha/state beta/state --partial    while nodes are running

Results are those of `fabnet run`: plan.toml, records.csv, summary.json and figures.
Every agent must have recorded the run to its end. If one is missing, belongs to another run, ends
early or is damaged, the command says which and ends with exit code 1. With --partial it puts
together what there is, and `missing` in summary.json says what there is not.")]
pub(crate) struct Collect {
    /// The experiment file of the run
    file: PathBuf,
    /// The folders that nodes keep their state in, of all agents together
    #[arg(required = true)]
    states: Vec<PathBuf>,
    /// Where results go; runs/NAME-TIME if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Accept records that are not a whole run, such as those of nodes that are still running
    #[arg(long)]
    partial: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Collect {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let plan = Experiment::read(&self.file)?.plan()?;
        let (group, _) = plan.only_run()?;
        let files: Arc<dyn Files> = Arc::new(SystemFiles::SHARED);
        let tracks: Vec<Option<PathBuf>> =
            (0..group.agents as u32).map(|agent| self.track(&*files, agent)).collect::<Result<_, _>>()?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        folder.begin_for_nodes(&plan)?;
        let collection = Collection { files, tracks: &tracks, partial: self.partial, launched: None };
        let summary = put_together(&plan, &folder, &collection)?;
        if !self.quiet {
            say(table::summary(&plan, &summary));
            say_missing(&summary);
            say(format!("results in {}", folder.path().display()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The track of an agent, in one of the folders; none if there is none.
    fn track(&self, files: &dyn Files, agent: u32) -> Result<Option<PathBuf>, Usage> {
        let places = self.states.iter().map(|state| track_path(state, agent));
        let found: Vec<PathBuf> = places.filter(|path| files.exists(path)).collect();
        match found.as_slice() {
            [first, second, ..] => Err(Usage(format!(
                "agent {agent} has records in two folders, {} and {}: name one of them",
                first.display(),
                second.display()
            ))),
            _ => Ok(found.into_iter().next()),
        }
    }
}

/// Results and figures from the records of nodes; nothing if they are not a whole run and a part is
/// not accepted.
pub(super) fn put_together(plan: &Plan, folder: &Folder, collection: &Collection<'_>) -> anyhow::Result<Summary> {
    let summary = collect(plan, folder, collection).inspect_err(|error| {
        if matches!(error, JobError::NotWhole(_)) {
            folder.discard_if_empty();
        }
    })?;
    conclude(folder)?;
    Ok(summary)
}

/// Says what is missing in the results.
pub(super) fn say_missing(summary: &Summary) {
    for missing in summary.runs.iter().flat_map(|run| &run.missing) {
        say(format!("missing: {missing}"));
    }
}
