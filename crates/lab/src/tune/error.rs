//! Why a plan could not be tuned.

use crate::registry::RegistryError;
use crate::results::FolderError;
use crate::run::{JobError, SetupError};

/// Why a plan could not be tuned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A run could not be carried out.
    #[error(transparent)]
    Job(#[from] JobError),
    /// There is neither a target nor a metric that settings can be compared by.
    #[error("tuning wants something to fall: give a [stop], or record a metric that does, such as `upper`")]
    NoObjective,
    /// The budget is smaller than the runs of one setting.
    #[error("the budget does not suffice for one setting of `{label}`: raise --budget")]
    Budget {
        /// The label of the group.
        label: String,
    },
    /// Someone interrupted the runs.
    #[error("interrupted: nothing was written")]
    Interrupted,
}

impl TuneError {
    /// Whether the experiment file asks for something that does not fit together.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Job(error) => error.is_invalid(),
            Self::NoObjective => true,
            Self::Budget { .. } | Self::Interrupted => false,
        }
    }
}

impl From<SetupError> for TuneError {
    fn from(error: SetupError) -> Self {
        Self::Job(error.into())
    }
}

impl From<RegistryError> for TuneError {
    fn from(error: RegistryError) -> Self {
        SetupError::from(error).into()
    }
}

impl From<FolderError> for TuneError {
    fn from(error: FolderError) -> Self {
        Self::Job(error.into())
    }
}
