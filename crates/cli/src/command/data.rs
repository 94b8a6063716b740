//! `fabnet data`: the data sets that are known, shares of them as files, and own data.

mod import;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fabnet_lab::data::{Entry, Library, State, known};
use fabnet_lab::divide;

use super::options::Overrides;
use crate::exit_code::FAILURE;
use crate::output::print_line;
use crate::table::aligned;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet data list
  fabnet data verify --data ~/data
  fabnet data import patients.csv --label diagnosis --site hospital --out data
  fabnet data divide experiments/checks/hyper-cleaning-small.toml --seeds 0..1 --out shares

Data sets are looked for in --data DIR, or else in $FABNET_DATA, or else in the user's cache \
directory, each in a folder of its name. fabnet does not download them; docs/learning.md says where \
they come from.")]
pub(crate) struct Data {
    /// What to do; if not given, list
    #[command(subcommand)]
    action: Option<DataAction>,
}

#[derive(Subcommand)]
enum DataAction {
    /// List the data sets that are known, and whether their files are there
    List,
    /// Read all files, and compare their checksums
    Verify,
    /// Print the folder in which data sets are looked for
    Path,
    /// Make own data of agents from tables, arrays (NPZ) or folders of images
    Import(Box<import::Import>),
    /// Partition the data of an experiment: write the share of each agent into a file of its own
    Divide {
        /// The experiment file; it must describe one run
        file: PathBuf,
        /// The folder for the files own/0.safetensors, own/1.safetensors, …, own/test.safetensors
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        overrides: Overrides,
    },
}

impl Data {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action.unwrap_or(DataAction::List) {
            DataAction::List => Ok(list_data_sets(false)),
            DataAction::Verify => Ok(list_data_sets(true)),
            DataAction::Path => {
                print_line(Library::usual().folder().display().to_string());
                Ok(ExitCode::SUCCESS)
            }
            DataAction::Import(import) => import.execute(),
            DataAction::Divide { file, out, overrides } => write_shares(&file, &out, &overrides),
        }
    }
}

/// Writes the share of each agent, and says how an experiment reads them.
fn write_shares(file: &Path, out: &Path, overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let plan = overrides.read(file)?.plan()?;
    let (group, seed) = plan.only_run()?;
    divide(group, seed, out)?;
    let last = group.agents - 1;
    print_line(format!(
        "{0}/own/0.safetensors to {0}/own/{last}.safetensors hold the data of each agent, \
         own/test.safetensors the test data.\n\
         An experiment reads them with data = \"own\" and --data {0}; \
         a node needs the files of its own agents only (docs/network.md).",
        out.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Lists the data sets with their state; `verify` also reads their files and compares checksums.
fn list_data_sets(verify: bool) -> ExitCode {
    let library = Library::usual();
    let state = |entry| if verify { library.verify(entry) } else { library.look(entry) };
    let states: Vec<(&Entry, State)> = known().iter().map(|entry| (entry, state(entry))).collect();
    let word = |state: &State| match state {
        State::Intact if verify => "intact".to_owned(),
        State::Intact => "there".to_owned(),
        State::Missing(files) => format!("missing: {}", files.join(", ")),
        State::Changed(files) => format!("changed: {}", files.join(", ")),
    };
    let row = |(entry, state): &(&Entry, State)| vec![entry.name.to_owned(), word(state), entry.about.to_owned()];
    print_line(aligned(&states.iter().map(row).collect::<Vec<_>>()));
    let broken = states.iter().any(|(_, state)| *state != State::Intact);
    if verify && broken { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS }
}
