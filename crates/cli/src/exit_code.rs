//! The exit code of the command, by the kind of error.

use std::process::ExitCode;

#[cfg(feature = "learning")]
use fabnet_import::ImportError;
use fabnet_lab::figure::FigureError;
use fabnet_lab::{BenchError, Diagnostics, JobError, MissingFeature, SetupError, TuneError, UnfitPlan};
#[cfg(feature = "net")]
use fabnet_net::PkiError;
#[cfg(feature = "net")]
use fabnet_node::NodeRuntimeError;

/// The exit code of something that could not be carried out.
pub(crate) const FAILURE: u8 = 1;
/// The exit code of wrong usage or an invalid file.
pub(crate) const USAGE: u8 = 2;

/// Wrong usage that is found only after the arguments were parsed.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Chooses the exit code of an error: errors that a change of arguments or files would avoid are
/// wrong usage, all others are failures.
pub(crate) fn of(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if is_usage(error) { USAGE } else { FAILURE })
}

fn is_usage(error: &anyhow::Error) -> bool {
    #[cfg(feature = "net")]
    if matches!(error.downcast_ref(), Some(NodeRuntimeError::Agents { .. } | NodeRuntimeError::Start { .. })) {
        return true;
    }
    #[cfg(feature = "net")]
    if error.downcast_ref().is_some_and(PkiError::is_usage) {
        return true;
    }
    #[cfg(feature = "learning")]
    if error.downcast_ref().is_some_and(ImportError::is_usage) {
        return true;
    }
    error.is::<UsageError>()
        || error.is::<Diagnostics>()
        || error.is::<UnfitPlan>()
        || error.is::<MissingFeature>()
        || matches!(error.downcast_ref(), Some(FigureError::Plan(_) | FigureError::Usage(_) | FigureError::NotBuilt(_)))
        || error.downcast_ref().is_some_and(SetupError::is_invalid)
        || error.downcast_ref().is_some_and(JobError::is_invalid)
        || error.downcast_ref().is_some_and(TuneError::is_invalid)
        || error.downcast_ref().is_some_and(BenchError::is_invalid)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use anyhow::Context;
    use fabnet_lab::figure::RequestError;
    use fabnet_lab::{Experiment, FolderError};

    use super::*;

    fn code_of(error: impl Into<anyhow::Error>) -> ExitCode {
        of(&error.into())
    }

    #[test]
    fn what_a_change_of_arguments_or_files_avoids_is_usage() {
        let usage = ExitCode::from(USAGE);
        assert_eq!(code_of(UsageError("--nodes 9".to_owned())), usage);
        assert_eq!(code_of(Experiment::parse("agents = = 6", Path::new("wrong.toml")).err().unwrap()), usage);
        let no_data = || SetupError::NoData { problem: "quadratic".to_owned() };
        assert_eq!(code_of(no_data()), usage);
        assert_eq!(code_of(JobError::Setup(no_data())), usage);
        assert_eq!(
            code_of(FigureError::Usage(RequestError::NotRecorded { metric: "auc".to_owned(), recorded: Vec::new() })),
            usage
        );
    }

    #[test]
    fn everything_else_is_a_failure() {
        let failure = ExitCode::from(FAILURE);
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(code_of(full()), failure);
        let spread = || SetupError::UnknownSpread { agents: 3000, topology: "ring".to_owned() };
        assert_eq!(code_of(spread()), failure);
        assert_eq!(code_of(JobError::Setup(spread())), failure);
        let files = FolderError::Files { path: PathBuf::from("records.csv"), error: full() };
        assert_eq!(code_of(JobError::Folder(files)), failure);
        assert_eq!(code_of(JobError::Folder(FolderError::Locked { path: PathBuf::from("runs/a") })), failure);
    }

    #[test]
    fn context_does_not_change_the_code() {
        let error = Err::<(), _>(UsageError("--out".to_owned())).context("while reading").unwrap_err();
        assert_eq!(of(&error), ExitCode::from(USAGE));
    }
}
