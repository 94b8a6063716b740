//! Why a folder of results cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a folder of results cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder cannot be made.
    #[error("{}: {error}; nothing was begun: check the folder's space and rights, then run again", path.display())]
    Begin {
        /// The folder of results.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A result cannot be written or read.
    #[error("{}: {error}; check the folder's space and rights, then go on with --resume", path.display())]
    Files {
        /// The file that is concerned.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file is not as it was written.
    #[error(
        "{}: {damage}; these runs cannot go on: run the plan.toml of this folder anew, with another --out",
        path.display()
    )]
    Damaged {
        /// The file that is concerned.
        path: PathBuf,
        /// What is wrong with the file.
        damage: Damage,
    },
    /// Another process carries out the runs of the folder.
    #[error("{}: another fabnet is carrying out these runs: wait for it, or end it first", path.display())]
    Locked {
        /// The folder of results.
        path: PathBuf,
    },
    /// The runs are those of real nodes, which a simulation cannot continue.
    #[error(
        "{}: its run is one of real nodes, which were stopped before its results were put together: use \
         `fabnet collect` on their state folders, or launch its plan.toml anew with another --out",
        path.display()
    )]
    OfNodes {
        /// The folder of results.
        path: PathBuf,
    },
}

/// How a file differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The rows of a run are not there.
    #[error("it is missing")]
    Missing,
    /// A result is not there, although its run was done.
    #[error("it is missing, although all runs were done")]
    MissingResult,
    /// The file is shorter than it was.
    #[error("it has {found} bytes, but {written} were written")]
    Short {
        /// The bytes that are there.
        found: usize,
        /// The bytes that were written.
        written: u64,
    },
    /// The contents do not have the checksum that was noted.
    #[error("its checksum is wrong")]
    Checksum,
    /// The file was written for another plan.
    #[error("it belongs to another plan.toml")]
    OtherPlan,
    /// The contents are not of the form that is expected.
    #[error("{reason}")]
    Form {
        /// What the parser says.
        reason: String,
    },
}

impl FolderError {
    /// The error of a file operation that the system refused.
    pub(crate) fn files(path: &Path, error: io::Error) -> Self {
        Self::Files { path: path.to_owned(), error }
    }

    /// The error of a file that is not as it was written.
    pub(super) fn damaged(path: &Path, damage: Damage) -> Self {
        Self::Damaged { path: path.to_owned(), damage }
    }

    /// The error of a file whose JSON cannot be understood.
    pub(super) fn form(path: &Path, error: &serde_json::Error) -> Self {
        Self::damaged(path, Damage::Form { reason: error.to_string() })
    }
}
