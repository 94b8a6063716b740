//! `fabnet data`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fabnet_lab::data::{Entry, Library, State, known};

use crate::failure::IMPOSSIBLE;
use crate::say::say;
use crate::table::aligned;

#[derive(Args)]
#[command(
    after_help = "Data sets are looked for in --data DIR, then $FABNET_DATA, then the user's cache directory, each in a folder of its name. \
fabnet does not download them; docs/learning.md says where they come from.

Examples:
  fabnet data list
  fabnet data verify --data ~/data"
)]
pub(crate) struct Data {
    /// What to do
    #[arg(value_enum, default_value_t = Action::List)]
    action: Action,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Action {
    /// Say which data sets are known, and whether they are there
    List,
    /// Read everything, and compare checksums
    Verify,
    /// Say where data sets are looked for
    Path,
}

impl Data {
    pub(crate) fn carry_out(self) -> ExitCode {
        let library = Library::usual();
        if self.action == Action::Path {
            say(library.folder().display().to_string());
            return ExitCode::SUCCESS;
        }
        let states: Vec<(&Entry, State)> = known()
            .iter()
            .map(|entry| {
                (entry, if self.action == Action::Verify { library.verify(entry) } else { library.look(entry) })
            })
            .collect();
        let row =
            |(entry, state): &(&Entry, State)| vec![entry.name.to_owned(), self.word(state), entry.about.to_owned()];
        say(aligned(&states.iter().map(row).collect::<Vec<_>>()));
        let broken = states.iter().any(|(_, state)| *state != State::Intact);
        if self.action == Action::Verify && broken { ExitCode::from(IMPOSSIBLE) } else { ExitCode::SUCCESS }
    }

    fn word(&self, state: &State) -> String {
        match state {
            State::Intact if self.action == Action::List => "there".to_owned(),
            State::Intact => "intact".to_owned(),
            State::Missing(files) => format!("missing: {}", files.join(", ")),
            State::Changed(files) => format!("changed: {}", files.join(", ")),
        }
    }
}
