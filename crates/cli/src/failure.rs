//! Which exit code a failure has.

use std::process::ExitCode;

#[cfg(feature = "net")]
use fabnet_host::StationError;
use fabnet_lab::figure::FigureError;
use fabnet_lab::{JobError, Mistakes, SetupError, UnfitPlan};

/// Something that cannot be carried out: exit code 1.
pub(crate) const IMPOSSIBLE: u8 = 1;
/// Wrong usage or an invalid file: exit code 2.
pub(crate) const USAGE: u8 = 2;

/// Wrong usage that is found after the arguments were read.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The exit code of an error.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let invalid = |error: &SetupError| matches!(error, SetupError::Invalid(_));
    let usage = error.is::<Usage>()
        || error.is::<Mistakes>()
        || error.is::<UnfitPlan>()
        || matches!(error.downcast_ref(), Some(FigureError::Plan(_) | FigureError::Usage(_)))
        || error.downcast_ref::<SetupError>().is_some_and(invalid)
        || error.downcast_ref::<JobError>().is_some_and(|error| match error {
            JobError::Setup(error) => invalid(error),
            JobError::Target { .. } => true,
            JobError::Shard(_)
            | JobError::Begin { .. }
            | JobError::Files { .. }
            | JobError::Damaged { .. }
            | JobError::Locked { .. }
            | JobError::OfNodes { .. }
            | JobError::Finding(_)
            | JobError::NotWhole(_) => false,
        });
    #[cfg(feature = "net")]
    let usage = usage || matches!(error.downcast_ref(), Some(StationError::Agents { .. } | StationError::Start { .. }));
    ExitCode::from(if usage { USAGE } else { IMPOSSIBLE })
}
