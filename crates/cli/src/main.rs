//! The `fabnet` command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod command;
mod failure;
mod interrupt;
mod progress;
mod say;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use fabnet_lab::data::Library;

use crate::command::Command;
use crate::failure::Usage;

/// Decentralized bilevel optimization: learn a model and its hyperparameters, or a model and which data to trust, across agents that
/// share no data and no server.
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    after_help = "First steps:
  fabnet run experiments/first.toml      run an experiment, with a summary and figures in runs/
  fabnet check experiments/first.toml    what can be known before
  fabnet list algorithms                 what there is to choose from

Exit codes: 0 every run was carried out; 1 it could not be, or all runs diverged; 2 wrong usage or an invalid file."
)]
struct Arguments {
    /// Where data sets are; `$FABNET_DATA` or the cache directory if not given
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let code = match Arguments::try_parse() {
        Ok(arguments) => arguments.carry_out(),
        // Wrong usage, or what was asked for: help, or the version.
        Err(answer) => {
            say::note(answer.print());
            ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(failure::USAGE))
        }
    };
    match say::finish() {
        Ok(()) => code,
        Err(error) => {
            eprintln!("error: the output could not be written: {error}");
            ExitCode::from(failure::IMPOSSIBLE)
        }
    }
}

impl Arguments {
    fn carry_out(self) -> ExitCode {
        look_for_data(self.data).and_then(|()| self.command.carry_out()).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            failure::exit_code(&error)
        })
    }
}

/// Says where data is, if the command line does.
fn look_for_data(folder: Option<PathBuf>) -> anyhow::Result<()> {
    match folder {
        Some(folder) if folder.is_dir() => Library::look_in(&folder),
        Some(folder) => return Err(Usage(format!("--data {}: there is no such folder", folder.display())).into()),
        None => {}
    }
    Ok(())
}
