//! `fabnet run`: carries out the runs of an experiment in the simulator.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::{Folder, FolderState, Plan, RunOptions, Summary, carry_out_plan, conclude, warnings};

use super::existing::require_results;
use super::options::{Overrides, Threads};
use super::results_folder::new_folder;
use super::watch::show_folder;
use crate::exit_code::{FAILURE, UsageError};
use crate::output::print_line;
use crate::progress::Progress;
use crate::table;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet run experiments/first.toml
  fabnet run experiments/paper/sensitivity.toml --out runs/table --seeds 0..20
  fabnet run experiments/first.toml --set rounds=2000 --set algorithm.1.penalty=80
  fabnet run --resume runs/table
  fabnet run experiments/loss-ledger.toml --watch

Results:
  plan.toml     every value resolved; running it repeats the run bit for bit
  records.csv   a row for each recorded round
  summary.json  each run and each group of runs
  solutions/    the solution of each run, for NumPy and PyTorch
  figures/      the metrics by rounds, seconds and bytes

Ctrl-C stops the runs in good order and keeps what was recorded. Only one process at a time can work \
in a folder of results.")]
pub(crate) struct Run {
    /// The experiment file; not needed with --resume
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// The folder for results; if not given, runs/NAME-TIME
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    threads: Threads,
    /// Continue the unfinished runs of this folder from their last checkpoints
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// The least time between two checkpoints of a run, such as 500ms or 1min; 0s writes one after
    /// every record. Large checkpoints are written less often, so that they take at most a
    /// twentieth of the time
    #[arg(long, value_name = "TIME", default_value_t = RunOptions::CHECKPOINT.into())]
    checkpoint_every: humantime::Duration,
    /// Record what happens, and show it in a browser while the runs go on; `fabnet watch DIR` shows
    /// it again
    #[arg(long)]
    watch: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Run {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (plan, folder) = if let Some(resume) = &self.resume { self.resumed(resume)? } else { self.fresh()? };
        if self.resume.is_some() && folder.resume()? == FolderState::Finished {
            self.say(&format!("nothing to resume: all runs in {} are done", folder.path().display()));
            return Ok(folder.summary()?.as_ref().map_or(ExitCode::SUCCESS, report_outcome));
        }
        self.say_choices_and_warnings(&plan);
        let Some(summary) = self.simulate(&plan, &folder)? else {
            let path = folder.path().display();
            eprintln!("stopped; what was recorded is in {path}. Go on with: fabnet run --resume {path}");
            return Ok(ExitCode::from(FAILURE));
        };
        let figures = conclude(&folder)?;
        self.say(&table::summary(&plan, &summary));
        let path = folder.path().display();
        self.say(&format!("{path}: plan.toml, records.csv, summary.json and {} figures", figures.len()));
        Ok(report_outcome(&summary))
    }

    /// The plan of the experiment file, and a new folder that holds it.
    fn fresh(&self) -> anyhow::Result<(Plan, Folder)> {
        let file = self.file.as_ref().ok_or_else(|| UsageError("an experiment file is needed".to_owned()))?;
        let plan = self.overrides.read(file)?.plan()?.with_checksums()?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        folder.begin(&plan)?;
        Ok((plan, folder))
    }

    /// The plan of a folder of results. A file or overrides that ask for another plan are refused.
    fn resumed(&self, path: &Path) -> anyhow::Result<(Plan, Folder)> {
        require_results(path)?;
        let folder = Folder::new(path);
        if !folder.file("plan.toml").exists() {
            let message = format!("--resume {}: there is no plan.toml of an earlier run", path.display());
            return Err(UsageError(message).into());
        }
        let plan = folder.plan()?;
        let differs = match &self.file {
            Some(file) => self.overrides.read(file)?.plan()?.with_checksums()? != plan,
            None => !self.overrides.is_empty(),
        };
        if differs {
            let message = format!(
                "--resume {}: its plan is another one; a run goes on as it began, so leave out FILE, --set and --seeds",
                path.display()
            );
            return Err(UsageError(message).into());
        }
        Ok((plan, folder))
    }

    /// Carries out the runs; none if they were interrupted.
    fn simulate(&self, plan: &Plan, folder: &Folder) -> anyhow::Result<Option<Summary>> {
        let progress = Progress::new(self.quiet)?;
        if self.watch {
            show_folder(folder.path())?;
        }
        let checkpoint = self.checkpoint_every.into();
        let pace = RunOptions { checkpoint, watch: self.watch, ..RunOptions::new(self.threads.count()) };
        let report = carry_out_plan(plan, folder, pace, &progress).inspect_err(|error| {
            if self.resume.is_none() && !error.can_be_resumed() {
                folder.discard_if_empty();
            }
        })?;
        Ok((!report.interrupted).then_some(report.summary))
    }

    fn say_choices_and_warnings(&self, plan: &Plan) {
        plan.choices().iter().for_each(|choice| self.say(choice));
        if !self.quiet {
            for warning in warnings(plan) {
                eprintln!("warning: {warning}");
            }
        }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            print_line(text);
        }
    }
}

/// The exit code of a summary: if all runs diverged there is no result, and the user is told so.
fn report_outcome(summary: &Summary) -> ExitCode {
    if !all_diverged(summary) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "error: all runs diverged: take smaller step sizes or steps = \"auto\"; `fabnet check` estimates stable ones"
    );
    ExitCode::from(FAILURE)
}

fn all_diverged(summary: &Summary) -> bool {
    let diverged: usize = summary.groups.iter().map(|group| group.diverged).sum();
    diverged >= summary.runs.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A summary of groups with these numbers of runs, and of runs that diverged.
    fn summary(groups: &[(usize, usize)]) -> Summary {
        let run = json!({
            "run": 0, "label": "", "algorithm": "fab", "settings": {}, "seed": 0, "outcome": "finished", "rounds": 1,
            "reached_at": null, "final": {}, "seconds": 1.0, "rounds_per_second": 1.0, "bytes_per_agent": 0.0,
            "state_bytes": 0.0,
        });
        let group = |&(runs, diverged): &(usize, usize)| {
            json!({
                "label": "", "settings": {}, "runs": runs, "diverged": diverged, "reached": 0,
                "reached_at": { "median": null, "min": null, "max": null }, "final": {},
            })
        };
        let runs: usize = groups.iter().map(|(runs, _)| runs).sum();
        let groups: Vec<_> = groups.iter().map(group).collect();
        let summary = json!({ "name": "test", "version": "0", "runs": vec![run; runs], "groups": groups });
        serde_json::from_value(summary).unwrap()
    }

    #[test]
    fn only_runs_that_all_diverged_are_a_failure() {
        assert_eq!(report_outcome(&summary(&[(3, 0), (3, 0)])), ExitCode::SUCCESS);
        assert_eq!(report_outcome(&summary(&[(3, 3), (3, 2)])), ExitCode::SUCCESS);
        assert_eq!(report_outcome(&summary(&[(3, 3), (3, 3)])), ExitCode::from(FAILURE));
    }
}
