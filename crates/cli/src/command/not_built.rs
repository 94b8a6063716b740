//! Commands in a build without the feature that they need: they say how to get them.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::MissingFeature;

/// A command that needs real nodes.
#[cfg(any(test, not(feature = "net")))]
pub(crate) type NeedsNet = NotBuilt<Net>;
/// A command that needs data sets.
#[cfg(not(feature = "learning"))]
pub(crate) type NeedsLearning = NotBuilt<Learning>;

/// A feature of this crate.
pub(crate) trait Feature: Send + Sync + 'static {
    /// Its name, as cargo knows it.
    const NAME: &str;
}

/// The feature `net`.
pub(crate) struct Net;
/// The feature `learning`.
#[cfg(not(feature = "learning"))]
pub(crate) struct Learning;

impl Feature for Net {
    const NAME: &str = "net";
}

#[cfg(not(feature = "learning"))]
impl Feature for Learning {
    const NAME: &str = "learning";
}

/// A command that this build does not have. It takes any arguments, so that its answer is always
/// how to get it.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct NotBuilt<F: Feature> {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
    #[arg(skip)]
    _feature: PhantomData<F>,
}

impl<F: Feature> NotBuilt<F> {
    #[allow(clippy::unused_self, reason = "it has the signature of every command")]
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        Err(needs::<F>().into())
    }
}

/// What is asked for needs a feature.
pub(super) fn needs<F: Feature>() -> MissingFeature {
    MissingFeature::new("this command", F::NAME)
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
        Launch(NeedsNet),
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
