//! Commands of real nodes in a build without the feature `net`: they say how to get them.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Usage;

/// A command of real nodes in a build without them, with whatever arguments.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

impl Absent {
    #[allow(clippy::unused_self, reason = "it is carried out as every command is")]
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        let message = "this command needs the feature `net`, which this fabnet was built without: \
                       install it with `cargo install --locked --path crates/cli --features net`";
        Err(Usage(message.to_owned()).into())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Parser, Subcommand};

    use super::*;
    use crate::failure::exit_code;

    #[derive(Parser)]
    struct Arguments {
        #[command(subcommand)]
        command: Command,
    }

    #[derive(Subcommand)]
    enum Command {
        Launch(Absent),
    }

    #[test]
    fn whatever_is_asked_of_an_absent_command_the_answer_names_the_feature() {
        for arguments in [&["fabnet", "launch"][..], &["fabnet", "launch", "first.toml", "--nodes", "3", "--help"]] {
            let Arguments { command: Command::Launch(launch) } = Arguments::try_parse_from(arguments).unwrap();
            let error = launch.carry_out().unwrap_err();
            assert!(error.to_string().contains("--features net"), "{error}");
            assert_eq!(exit_code(&error), ExitCode::from(2));
        }
    }
}
