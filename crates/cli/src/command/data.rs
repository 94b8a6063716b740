//! `fabnet data`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fabnet_lab::data::{Entry, Library, State, known};
use fabnet_lab::divide;

use super::Changes;
use crate::failure::IMPOSSIBLE;
use crate::say::say;
use crate::table::aligned;

#[derive(Args)]
#[command(
    after_help = "Data sets are looked for in --data DIR, then $FABNET_DATA, then the user's cache directory, each in a folder of its name. \
fabnet does not download them; docs/learning.md says where they come from.

Examples:
  fabnet data list
  fabnet data verify --data ~/data
  fabnet data divide experiments/checks/hyper-cleaning-small.toml --seeds 0..1 --out shares"
)]
pub(crate) struct Data {
    /// What to do; list if not given
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Say which data sets are known, and whether they are there
    List,
    /// Read everything, and compare checksums
    Verify,
    /// Say where data sets are looked for
    Path,
    /// Write what each agent of an experiment would be dealt as a file of its own, for nodes that hold nothing else
    Divide {
        /// The experiment file, of one run
        file: PathBuf,
        /// Where files go: own/0.safetensors, own/1.safetensors, …, own/test.safetensors
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        changes: Changes,
    },
}

impl Data {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        match self.action.unwrap_or(Action::List) {
            Action::List => Ok(look(false)),
            Action::Verify => Ok(look(true)),
            Action::Path => {
                say(Library::usual().folder().display().to_string());
                Ok(ExitCode::SUCCESS)
            }
            Action::Divide { file, out, changes } => divide_into(&file, &out, &changes),
        }
    }
}

fn divide_into(file: &Path, out: &Path, changes: &Changes) -> anyhow::Result<ExitCode> {
    let plan = changes.read(file)?.plan()?;
    let (group, seed) = plan.only_run()?;
    divide(group, seed, out)?;
    let last = group.agents - 1;
    say(format!(
        "{0}/own/0.safetensors to {0}/own/{last}.safetensors hold what each agent has, own/test.safetensors what to test with.\n\
         An experiment reads them with data = \"own\" and --data {0}; a node needs its own agents' files only (docs/network.md).",
        out.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Says what there is, after reading all of it if asked to.
fn look(thoroughly: bool) -> ExitCode {
    let library = Library::usual();
    let state = |entry| if thoroughly { library.verify(entry) } else { library.look(entry) };
    let states: Vec<(&Entry, State)> = known().iter().map(|entry| (entry, state(entry))).collect();
    let word = |state: &State| match state {
        State::Intact if thoroughly => "intact".to_owned(),
        State::Intact => "there".to_owned(),
        State::Missing(files) => format!("missing: {}", files.join(", ")),
        State::Changed(files) => format!("changed: {}", files.join(", ")),
    };
    let row = |(entry, state): &(&Entry, State)| vec![entry.name.to_owned(), word(state), entry.about.to_owned()];
    say(aligned(&states.iter().map(row).collect::<Vec<_>>()));
    let broken = states.iter().any(|(_, state)| *state != State::Intact);
    if thoroughly && broken { ExitCode::from(IMPOSSIBLE) } else { ExitCode::SUCCESS }
}
