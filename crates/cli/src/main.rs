//! The `fabnet` command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod command;
mod failure;
mod progress;
mod say;
mod table;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;

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
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.carry_out() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            failure::exit_code(&error)
        }
    }
}
