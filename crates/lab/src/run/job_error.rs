//! Why a run could not be carried out.

use fabnet_core::ShardError;

use super::setup_error::SetupError;
use crate::figure::FigureError;
use crate::plan::Group;
use crate::results::{FolderError, NotWhole};

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The run cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The simulator refused to go on.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The findings or figures of the run cannot be drawn.
    #[error(transparent)]
    Finding(FigureError),
    /// The folder of results cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The records of a real run are not complete.
    #[error(transparent)]
    NotWhole(#[from] NotWhole),
    /// The target is a metric that this run cannot measure.
    #[error(
        "`{metric}` means nothing for `{algorithm}` on `{problem}`, so [stop] would never act: choose another metric"
    )]
    Target {
        /// The metric of the target.
        metric: String,
        /// The name of the method.
        algorithm: String,
        /// The kind of the problem.
        problem: String,
    },
}

impl JobError {
    /// Whether the runs can continue once the cause is removed.
    pub fn can_be_resumed(&self) -> bool {
        matches!(self, Self::Folder(FolderError::Files { .. } | FolderError::Locked { .. }))
    }

    /// Whether the experiment file asks for something that does not fit together.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Setup(error) => error.is_invalid(),
            Self::Target { .. } => true,
            Self::Shard(_) | Self::Finding(_) | Self::Folder(_) | Self::NotWhole(_) => false,
        }
    }

    /// The error for a target that runs of a group cannot measure.
    pub(super) fn no_target(metric: &str, group: &Group) -> Self {
        Self::Target {
            metric: metric.to_owned(),
            algorithm: group.algorithm.kind.clone(),
            problem: group.problem.kind.clone(),
        }
    }

    /// The same error, with the group that it occurred in.
    pub(super) fn in_group(self, label: &str) -> Self {
        if let Self::Setup(error) = self { error.in_group(label).into() } else { self }
    }
}

/// A file that cannot be read or written is the same failure whether it is a figure or a result.
impl From<FigureError> for JobError {
    fn from(error: FigureError) -> Self {
        match error {
            FigureError::Files { path, error } => FolderError::Files { path, error }.into(),
            error => Self::Finding(error),
        }
    }
}
