//! Why an import fails.

use std::path::{Path, PathBuf};

use crate::flaw::Flaw;

/// Why an import fails.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// What was asked for does not fit the inputs.
    #[error("{0}")]
    Request(String),
    /// An input cannot be read at all.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// Rows are broken, and it was not asked to leave them out.
    #[error("{}", broken_text(*count, *rows, first))]
    Broken {
        /// The number of broken rows.
        count: u64,
        /// The number of all rows.
        rows: u64,
        /// The first of them.
        first: Vec<Flaw>,
    },
}

impl ImportError {
    /// Whether other arguments or inputs would avoid the error.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Files { .. })
    }

    /// An error of an input.
    pub(crate) fn input(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::Input { path: path.into(), problem: problem.into() }
    }
}

fn broken_text(count: u64, rows: u64, first: &[Flaw]) -> String {
    let list: Vec<String> = first.iter().map(|flaw| format!("  {flaw}")).collect();
    let more = count - first.len() as u64;
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    format!(
        "{count} of {rows} rows are broken:\n{}{more}\nCorrect them, leave a column out with --drop, or leave these \
         rows out with --skip-broken; nothing was written",
        list.join("\n")
    )
}

/// An error of the system at a path.
pub(crate) fn failed(path: &Path) -> impl Fn(std::io::Error) -> ImportError + '_ {
    |error| ImportError::Files { path: path.to_owned(), error }
}
