//! Why a benchmark could not be carried out or shown.

use std::io;
use std::path::{Path, PathBuf};

use super::cell::BenchCell;
use crate::file::Diagnostics;
use crate::tune::TuneError;

/// Why a benchmark could not be carried out or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The design cannot be used.
    #[error(transparent)]
    Design(#[from] Diagnostics),
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Files {
        /// The file that is concerned.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file is not one of results.
    #[error("{}: {reason}; the form is that of docs/benchmark.schema.json", path.display())]
    Form {
        /// The file that is concerned.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// Results are those of another design.
    #[error(
        "{}: {cell} was carried out with other settings than the design has now: carry it out again with \
         `fabnet bench run`, or leave it out",
        path.display()
    )]
    OtherDesign {
        /// The file that is concerned.
        path: PathBuf,
        /// The cell that differs.
        cell: Box<BenchCell>,
    },
    /// Another process writes to the same results.
    #[error("{}: another fabnet is adding to these results: wait for it, or end it first", path.display())]
    Locked {
        /// The file of results.
        path: PathBuf,
    },
    /// The runs of a cell could not be carried out.
    #[error("{cell}: {error}")]
    Cell {
        /// The cell with the runs.
        cell: Box<BenchCell>,
        /// What went wrong.
        error: TuneError,
    },
    /// The template of the page has no place for a part of it.
    #[error("{}: there is no place `{{{{ {part} }}}}`: add it", path.display())]
    Template {
        /// The template of the page.
        path: PathBuf,
        /// The name of the part.
        part: &'static str,
    },
}

impl BenchError {
    /// Whether a change of arguments or files would avoid the error.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Design(_) | Self::Form { .. } | Self::OtherDesign { .. } | Self::Template { .. } => true,
            Self::Cell { error, .. } => error.is_invalid(),
            Self::Files { .. } | Self::Locked { .. } => false,
        }
    }

    pub(super) fn files(path: &Path, error: io::Error) -> Self {
        Self::Files { path: path.to_owned(), error }
    }

    /// The error of a run of a cell.
    pub(super) fn of_cell(cell: &BenchCell, error: impl Into<TuneError>) -> Self {
        Self::Cell { cell: Box::new(cell.clone()), error: error.into() }
    }

    /// Whether someone interrupted the runs.
    pub(super) fn is_interruption(&self) -> bool {
        matches!(self, Self::Cell { error: TuneError::Interrupted, .. })
    }
}
