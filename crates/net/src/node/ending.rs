//! How a node ends.

use super::recorder::UnwrittenRecords;
use crate::monitor::{MissingMembers, NotAdmitted};
use crate::state::DiskError;

/// Why a node has ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its rounds are done, and others had time to do theirs.
    Done,
    /// It was told to leave.
    Left,
}

/// Why a node cannot go on, or its answer cannot be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The others do not let it in.
    #[error(transparent)]
    NotAdmitted(#[from] NotAdmitted),
    /// Other members were missing.
    #[error(transparent)]
    Missing(#[from] MissingMembers),
    /// The other members have expelled it.
    #[error(
        "the members of this run have expelled this node, by list number {0}: it can take part again once a list \
         with a higher number does not name it"
    )]
    Expelled(u64),
    /// Its state cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Some of its records cannot be written.
    #[error(transparent)]
    Records(#[from] UnwrittenRecords),
}
