//! Why figures could not be drawn.

use std::path::{Path, PathBuf};

use super::encode_error::EncodeError;
use super::request_error::RequestError;
use crate::file::Diagnostics;
use crate::missing_feature::MissingFeature;
use crate::registry::RegistryError;

/// Why figures could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The folder has no plan that can be used.
    #[error("{0}; figures are drawn from a folder of results: give one that `fabnet run` has made")]
    Plan(Diagnostics),
    /// The records cannot be read.
    #[error(
        "{}: {error}; finish the experiment with `fabnet run --resume` on this folder, then draw again",
        path.display()
    )]
    Records {
        /// The file of the records.
        path: PathBuf,
        /// What is wrong with the file.
        error: csv::Error,
    },
    /// The records do not have all columns that the plan asks for.
    #[error(
        "{}: there is no column `{column}`, so the file is not from the plan.toml beside it: run that plan anew",
        path.display()
    )]
    Column {
        /// The file of the records.
        path: PathBuf,
        /// The column that is missing.
        column: String,
    },
    /// A cell of the records is not a number.
    #[error("{}:{line}: `{column}` is \"{cell}\", which is not a number: correct or remove this line", path.display())]
    Cell {
        /// The file of the records.
        path: PathBuf,
        /// The line of the file, counted from 1.
        line: u64,
        /// The name of the column.
        column: String,
        /// The contents of the cell.
        cell: String,
    },
    /// The summary cannot be understood.
    #[error(
        "{}: {error}; remove the file to draw without it: runs that diverged are then drawn like others",
        path.display()
    )]
    Summary {
        /// The file of the summary.
        path: PathBuf,
        /// What is wrong with the file.
        error: serde_json::Error,
    },
    /// A network of the plan cannot be made.
    #[error("the network of `{label}` cannot be drawn: {error}")]
    Topology {
        /// The label of the group.
        label: String,
        /// What is wrong with its network.
        error: RegistryError,
    },
    /// The requested figures do not exist.
    #[error(transparent)]
    Usage(#[from] RequestError),
    /// The metric has no number in the records.
    #[error("there is no number of `{metric}` in the records: choose another metric with --metric")]
    Empty {
        /// The metric that was requested.
        metric: String,
    },
    /// This build has not the format of a figure.
    #[error(transparent)]
    NotBuilt(MissingFeature),
    /// A figure cannot be turned into another format than SVG.
    #[error("{}: {error}; write the figure as SVG, and please report this", path.display())]
    Format {
        /// The file of the figure.
        path: PathBuf,
        /// Why it cannot be encoded.
        error: EncodeError,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}; check the folder's space and rights, then draw again", path.display())]
    Files {
        /// The file that is concerned.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
}

impl FigureError {
    /// A figure that was to be this file cannot be encoded.
    pub(super) fn encode(path: &Path, error: EncodeError) -> Self {
        match error {
            EncodeError::NotBuilt(missing) => Self::NotBuilt(missing),
            error => Self::Format { path: path.to_owned(), error },
        }
    }
}
