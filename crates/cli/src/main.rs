//! The `fabnet` command: arguments, progress bars, tables and exit codes around the lab.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod command;
mod exit_code;
mod interrupt;
mod output;
mod progress;
mod table;
mod trend;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
#[cfg(feature = "learning")]
use fabnet_lab::data::Library;

use crate::command::Command;
use crate::exit_code::UsageError;

/// Decentralized bilevel optimization: learn a model and its hyperparameters, or a model and which
/// data to trust, across agents that share no data and have no server.
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    after_help = "\
First steps:
  fabnet run experiments/first.toml      run an experiment; results and figures go to runs/
  fabnet check experiments/first.toml    report what can be known before a run
  fabnet list algorithms                 list the algorithms and their settings

Exit codes:
  0  every run was carried out
  1  something failed, or all runs diverged
  2  wrong usage or an invalid file"
)]
struct Arguments {
    /// The folder with data sets; if not given, `$FABNET_DATA` or the user's cache directory
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let code = match Arguments::try_parse() {
        Ok(arguments) => arguments.execute(),
        // Wrong usage, or a request for the help or the version.
        Err(answer) => {
            output::note_error(answer.print());
            ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(exit_code::USAGE))
        }
    };
    match output::finish() {
        Ok(()) => code,
        Err(error) => {
            eprintln!("error: the output could not be written: {error}");
            ExitCode::from(exit_code::FAILURE)
        }
    }
}

impl Arguments {
    fn execute(self) -> ExitCode {
        let done = choose_data_folder(self.data).and_then(|()| self.command.execute(Self::command));
        done.unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            exit_code::of(&error)
        })
    }
}

/// Makes the folder of `--data`, if it is given, the one in which data sets are looked for.
fn choose_data_folder(folder: Option<PathBuf>) -> Result<(), anyhow::Error> {
    match folder {
        #[cfg(feature = "learning")]
        Some(folder) if folder.is_dir() => Library::look_in(&folder),
        #[cfg(not(feature = "learning"))]
        Some(folder) if folder.is_dir() => {}
        Some(folder) => return Err(UsageError(format!("--data {}: there is no such folder", folder.display())).into()),
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of a command and of all commands below it, as on a terminal of 100 columns.
    #[cfg(feature = "net")]
    fn help_of(command: &mut clap::Command) -> String {
        let help = command.render_help();
        let own = format!("## {}\n{help}", command.get_bin_name().unwrap_or("fabnet"));
        let below = command.get_subcommands_mut().filter(|below| below.get_name() != "help").map(help_of);
        std::iter::once(own).chain(below).collect::<Vec<_>>().join("\n")
    }

    #[cfg(feature = "net")]
    #[test]
    fn help_fits_a_terminal() {
        let mut command = Arguments::command().term_width(100);
        command.build();
        let help = help_of(&mut command);
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(long.is_empty(), "{long:#?}");
        insta::assert_snapshot!(help);
    }

    #[test]
    fn usage_is_told_from_questions_by_the_exit_code() {
        for (arguments, code) in [
            (&["--help"][..], 0),
            (&["--version"], 0),
            (&["run", "--help"], 0),
            (&[], 2),
            (&["rnu"], 2),
            (&["run"], 2),
            (&["run", "--resume", "runs/a", "--out", "runs/b"], 2),
            (&["run", "first.toml", "--checkpoint-every", "soon"], 2),
            (&["faults", "--replay", "3", "--seeds", "5"], 2),
            (&["list", "algorithms", "--markdown"], 2),
        ] {
            let line = ["fabnet"].iter().chain(arguments);
            let error = Arguments::try_parse_from(line).err().unwrap_or_else(|| panic!("{arguments:?} were taken"));
            assert_eq!(error.exit_code(), code, "{arguments:?}");
        }
    }

    #[test]
    fn a_data_folder_must_exist() {
        let error = choose_data_folder(Some("nowhere".into())).unwrap_err();
        assert_eq!(error.to_string(), "--data nowhere: there is no such folder");
        assert_eq!(exit_code::of(&error), ExitCode::from(exit_code::USAGE));
        choose_data_folder(None).unwrap();
    }
}
