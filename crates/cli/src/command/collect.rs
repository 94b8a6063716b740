//! `fabnet collect`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fabnet_host::track_path;
use fabnet_lab::{Experiment, collect, conclude};

use super::run::new_folder;
use crate::failure::Usage;
use crate::say::say;
use crate::table;

#[derive(Args)]
#[command(after_help = "Example, with the state folders of three machines copied to here:
  fabnet collect experiment.toml alpha/state beta/state gamma/state --out runs/together

Results are those of `fabnet run`: plan.toml, records.csv, summary.json and figures. Nodes may still be running: what they have recorded so far is put together.")]
pub(crate) struct Collect {
    /// The experiment file of the run
    file: PathBuf,
    /// The folders that nodes keep their state in, of all agents together
    #[arg(required = true)]
    states: Vec<PathBuf>,
    /// Where results go; runs/NAME-TIME if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Collect {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let plan = Experiment::read(&self.file)?.plan()?;
        let (group, _) = plan.only_run()?;
        let track = |agent: usize| {
            let mut places = self.states.iter().map(|state| track_path(state, agent as u32));
            places.find(|path| path.exists()).ok_or_else(|| {
                Usage(format!("agent {agent} has recorded nothing in the folders given: name those of all nodes"))
            })
        };
        let tracks: Vec<PathBuf> = (0..group.agents).map(track).collect::<Result<_, _>>()?;
        let folder = new_folder(&plan, self.out.as_deref())?;
        let summary = collect(&plan, &folder, &tracks, None)?;
        conclude(&folder)?;
        if !self.quiet {
            say(table::summary(&plan, &summary));
            say(format!("results in {}", folder.path().display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
