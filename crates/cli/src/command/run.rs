//! `fabnet run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::{Folder, Pace, Plan, Standing, Summary, carry_out_plan, conclude, timestamp, warnings};

use super::{Changes, Threads};
use crate::failure::{IMPOSSIBLE, Usage};
use crate::progress::Progress;
use crate::say::say;
use crate::table;

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet run experiments/first.toml
  fabnet run experiments/paper/sensitivity.toml --out runs/table --seeds 0..20
  fabnet run experiments/first.toml --set rounds=2000 --set algorithm.1.penalty=80
  fabnet run --resume runs/table

Results: plan.toml (every value resolved; running it repeats the run bit for bit), records.csv (a row per recorded round),
summary.json (each run and each group), solutions/ (what each run has found, for NumPy and PyTorch), figures/. Ctrl-C stops
cleanly and keeps what was recorded. One process at a time works in a folder.")]
pub(crate) struct Run {
    /// The experiment file; not needed with --resume
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// Where results go; runs/NAME-TIME if not given
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    threads: Threads,
    /// Go on with the unfinished runs of this folder, from their last checkpoints
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// The least time between two checkpoints of a run, such as 500ms or 1min; 0s writes one after every record. Large checkpoints
    /// are written less often, so that they cost at most 5 % of the time
    #[arg(long, value_name = "TIME", default_value_t = Pace::CHECKPOINT.into())]
    checkpoint_every: humantime::Duration,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Run {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let (plan, folder) = if let Some(resume) = &self.resume { self.resumed(resume)? } else { self.fresh()? };
        if self.resume.is_some() && folder.resume()? == Standing::Finished {
            self.say(&format!("nothing to resume: all runs in {} are done", folder.path().display()));
            return Ok(folder.summary()?.as_ref().map_or(ExitCode::SUCCESS, verdict));
        }
        plan.choices().iter().for_each(|choice| self.say(choice));
        if !self.quiet {
            for warning in warnings(&plan) {
                eprintln!("warning: {warning}");
            }
        }
        let progress = Progress::new(self.quiet)?;
        let pace = Pace { threads: self.threads.count(), checkpoint: self.checkpoint_every.into() };
        let report = carry_out_plan(&plan, &folder, pace, &progress).inspect_err(|error| {
            if self.resume.is_none() && !error.can_be_resumed() {
                folder.discard_if_empty();
            }
        })?;
        drop(progress);
        let path = folder.path().display();
        if report.interrupted {
            eprintln!("stopped; what was recorded is in {path}. Go on with: fabnet run --resume {path}");
            return Ok(ExitCode::from(IMPOSSIBLE));
        }
        let figures = conclude(&folder)?;
        self.say(&table::summary(&plan, &report.summary));
        self.say(&format!("{path}: plan.toml, records.csv, summary.json and {} figures", figures.len()));
        Ok(verdict(&report.summary))
    }

    fn fresh(&self) -> anyhow::Result<(Plan, Folder)> {
        let file = self.file.as_ref().ok_or_else(|| Usage("an experiment file is needed".to_owned()))?;
        let plan = self.changes.read(file)?.plan()?.with_checksums()?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        folder.begin(&plan)?;
        Ok((plan, folder))
    }

    fn resumed(&self, path: &Path) -> anyhow::Result<(Plan, Folder)> {
        let folder = Folder::new(path);
        if !folder.file("plan.toml").exists() {
            return Err(Usage(format!("--resume {}: there is no plan.toml of an earlier run", path.display())).into());
        }
        let plan = folder.plan()?;
        let differs = match &self.file {
            Some(file) => self.changes.read(file)?.plan()?.with_checksums()? != plan,
            None => !self.changes.is_empty(),
        };
        if differs {
            let message = format!(
                "--resume {}: its plan is another one; a run goes on as it began, so leave out FILE, --set and --seeds",
                path.display()
            );
            return Err(Usage(message).into());
        }
        Ok((plan, folder))
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }
}

/// Whether anything came out: runs that all diverged are no result.
fn verdict(summary: &Summary) -> ExitCode {
    let diverged: usize = summary.groups.iter().map(|group| group.diverged).sum();
    if diverged < summary.runs.len() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: all runs diverged: take smaller steps or steps = \"auto\"; `fabnet check` estimates stable ones");
    ExitCode::from(IMPOSSIBLE)
}

/// A folder for the results of a plan that is not used yet: this one, or one with a name of its own.
pub(crate) fn new_folder(plan: &Plan, out: Option<&Path>) -> anyhow::Result<Folder> {
    let named = || unused(&format!("runs/{}-{}", plan.name, timestamp()));
    let folder = Folder::new(&out.map_or_else(named, Path::to_owned));
    if folder.is_used() {
        let path = folder.path().display();
        let message = format!(
            "{path} holds results already: choose another --out (`fabnet run --resume {path}` goes on with simulated runs)"
        );
        return Err(Usage(message).into());
    }
    Ok(folder)
}

/// The path, numbered if something is there.
fn unused(path: &str) -> PathBuf {
    let numbered = (2..).map(|number| format!("{path}-{number}"));
    let mut candidates = std::iter::once(path.to_owned()).chain(numbered).map(PathBuf::from);
    candidates.find(|path| !path.exists()).unwrap_or_default()
}
