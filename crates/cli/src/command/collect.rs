//! `fabnet collect`: combines the records of real nodes into results.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::{Collection, Experiment, Folder, JobError, Plan, Summary, collect, conclude};
use fabnet_node::track_path;

use super::existing::require_folder;
use super::results_folder::new_folder;
use crate::exit_code::UsageError;
use crate::output::print_line;
use crate::table;

#[derive(Args)]
#[command(after_help = "\
Examples, with copies of the state folders of three machines:
  fabnet collect experiment.toml alpha/state beta/state gamma/state --out runs/together
  fabnet collect experiment.toml alpha/state beta/state --partial

The results are those of `fabnet run`: plan.toml, records.csv, summary.json and figures/.

Every agent must have recorded the run to its end. If the records of an agent are missing, belong to \
another run, end early or are damaged, the command names the agent and the exit code is 1. With \
--partial it combines the records that there are, and `missing` in summary.json lists the rest.")]
pub(crate) struct Collect {
    /// The experiment file of the run
    file: PathBuf,
    /// The state folders of the nodes; together they hold all agents
    #[arg(required = true)]
    states: Vec<PathBuf>,
    /// The folder for results; if not given, runs/NAME-TIME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Accept the records of an incomplete run, for instance while nodes are still running
    #[arg(long)]
    partial: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Collect {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let plan = Experiment::read(&self.file)?.plan()?;
        let (group, _) = plan.only_run()?;
        self.states.iter().try_for_each(|state| require_folder(state))?;
        let files: Arc<dyn Files> = Arc::new(SystemFiles::SHARED);
        let tracks: Vec<Option<PathBuf>> =
            (0..group.agents as u32).map(|agent| self.track(&*files, agent)).collect::<Result<_, _>>()?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        folder.begin_for_nodes(&plan)?;
        let collection = Collection { files, tracks: &tracks, partial: self.partial, launched: None };
        let summary = write_results(&plan, &folder, &collection)?;
        if !self.quiet {
            print_line(table::summary(&plan, &summary));
            print_missing(&summary);
            print_line(format!("results in {}", folder.path().display()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Finds the records of an agent in the state folders; none if no folder has them.
    fn track(&self, files: &dyn Files, agent: u32) -> Result<Option<PathBuf>, UsageError> {
        let places = self.states.iter().map(|state| track_path(state, agent));
        let found: Vec<PathBuf> = places.filter(|path| files.exists(path)).collect();
        match found.as_slice() {
            [first, second, ..] => Err(UsageError(format!(
                "agent {agent} has records in two folders, {} and {}: name one of them",
                first.display(),
                second.display()
            ))),
            _ => Ok(found.into_iter().next()),
        }
    }
}

/// Writes results and figures from the records of nodes. If these are not a whole run and a part is
/// not accepted, nothing is left of the folder.
pub(super) fn write_results(plan: &Plan, folder: &Folder, collection: &Collection<'_>) -> anyhow::Result<Summary> {
    let summary = collect(plan, folder, collection).inspect_err(|error| {
        if matches!(error, JobError::NotWhole(_)) {
            folder.discard_if_empty();
        }
    })?;
    conclude(folder)?;
    Ok(summary)
}

/// Prints which records are missing in the results.
pub(super) fn print_missing(summary: &Summary) {
    for missing in summary.runs.iter().flat_map(|run| &run.missing) {
        print_line(format!("missing: {missing}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_of_an_agent_are_in_one_folder_or_in_none() {
        let home = tempfile::tempdir().unwrap();
        let states: Vec<PathBuf> = ["alpha", "beta"].iter().map(|name| home.path().join(name)).collect();
        for (state, agent) in [(0, 0), (1, 1), (0, 2), (1, 2)] {
            let track = track_path(&states[state], agent);
            std::fs::create_dir_all(track.parent().unwrap()).unwrap();
            std::fs::write(track, "records").unwrap();
        }
        let collect =
            Collect { file: "experiment.toml".into(), states: states.clone(), out: None, partial: false, quiet: true };
        let track = |agent| collect.track(&SystemFiles::SHARED, agent);
        assert_eq!(track(0).unwrap(), Some(track_path(&states[0], 0)));
        assert_eq!(track(1).unwrap(), Some(track_path(&states[1], 1)));
        assert_eq!(track(3).unwrap(), None);
        let message = track(2).unwrap_err().to_string();
        assert!(message.contains("agent 2") && message.contains("alpha") && message.contains("beta"), "{message}");
    }
}
