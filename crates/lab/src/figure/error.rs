//! Why figures could not be drawn.

use std::path::PathBuf;

use crate::mistake::Mistakes;
use crate::setup::SetupError;

/// Why figures could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The folder has no plan that can be used.
    #[error("{0}; figures are drawn from a folder of results: give one that `fabnet run` has made")]
    Plan(Mistakes),
    /// The records cannot be read.
    #[error("{}: {error}; finish the experiment with `fabnet run --resume` on this folder, then draw again", path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: csv::Error,
    },
    /// The records do not have all that the plan asks for.
    #[error("{}: there is no column `{column}`, so the file is not from the plan.toml beside it: run that plan anew", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// What is missing.
        column: String,
    },
    /// Something else stands where a number belongs.
    #[error("{}:{line}: `{column}` is \"{cell}\", which is not a number: correct or remove this line", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        cell: String,
    },
    /// The summary cannot be understood.
    #[error("{}: {error}; remove the file to draw without it: runs that diverged are then drawn like others", path.display())]
    Summary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// A network of the plan cannot be set up.
    #[error("the network of `{label}` cannot be drawn: {error}")]
    Topology {
        /// The group.
        label: String,
        /// What is wrong.
        error: SetupError,
    },
    /// Something is asked for that there is not.
    #[error("{0}")]
    Usage(String),
    /// There is nothing to draw.
    #[error("there is no number of `{metric}` in the records: choose another metric with --metric")]
    Empty {
        /// The metric.
        metric: String,
    },
    /// A figure cannot be turned into another format than SVG.
    #[error("{}: {reason}; write the figure as SVG, and please report this", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}; check the folder's space and rights, then draw again", path.display())]
    Files {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}
