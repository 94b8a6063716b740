//! Commands of real nodes in a build without the feature `net`: they say how to get them.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::exit_code::UsageError;

/// A command that this build does not have. It takes any arguments, so that its answer is always
/// how to get it.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct NotBuilt {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

impl NotBuilt {
    #[allow(clippy::unused_self, reason = "it has the signature of every command")]
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        Err(needs_net().into())
    }
}

/// What is asked for needs real nodes.
pub(super) fn needs_net() -> UsageError {
    let message = "this command needs the feature `net`, which this fabnet was built without: \
                   install it with `cargo install --locked --path crates/cli --features net`";
    UsageError(message.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{Parser, Subcommand};

    use super::*;
    use crate::exit_code;

    #[derive(Parser)]
    struct TestArguments {
        #[command(subcommand)]
        command: TestCommand,
    }

    #[derive(Subcommand)]
    enum TestCommand {
        Launch(NotBuilt),
    }

    #[test]
    fn whatever_is_asked_of_an_absent_command_the_answer_names_the_feature() {
        for arguments in [&["fabnet", "launch"][..], &["fabnet", "launch", "first.toml", "--nodes", "3", "--help"]] {
            let TestArguments { command: TestCommand::Launch(launch) } =
                TestArguments::try_parse_from(arguments).unwrap();
            let error = launch.execute().unwrap_err();
            assert!(error.to_string().contains("--features net"), "{error}");
            assert_eq!(exit_code::of(&error), ExitCode::from(2));
        }
    }
}
