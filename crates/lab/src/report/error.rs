//! Why a report cannot be made.

use std::path::PathBuf;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A place of the template is not of the form.
    #[error(
        "line {line}: `{found}` is not of the form {{{{ RUN | LABEL | PATH }}}} or \
         {{{{ RUN | LABEL | PATH in LOW..HIGH }}}}"
    )]
    Form {
        /// The line of the template, counted from 1.
        line: usize,
        /// The line as it is written.
        found: String,
    },
    /// A run has no summary.
    #[error("line {line}: {} has no summary: run that experiment with --out there first", path.display())]
    Run {
        /// The line of the template, counted from 1.
        line: usize,
        /// The folder of the run.
        path: PathBuf,
    },
    /// A run was stopped, and its numbers are of a part of its seeds only.
    #[error(
        "line {line}: {} was stopped before all its runs were done: go on with `fabnet run --resume {}`",
        path.display(), path.display()
    )]
    Unfinished {
        /// The line of the template, counted from 1.
        line: usize,
        /// The folder of the run.
        path: PathBuf,
    },
    /// The summary has no such label or path.
    #[error("line {line}: there is no `{path}` of `{label}` in that summary")]
    Missing {
        /// The line of the template, counted from 1.
        line: usize,
        /// The label of the group.
        label: String,
        /// The path that was asked for.
        path: String,
    },
    /// A number is not what the text says about it.
    #[error(
        "line {line}: `{path}` of `{label}` is {found}, not within {low}..{high}: the text beside it no longer holds, \
         so mend the text"
    )]
    Bounds {
        /// The line of the template, counted from 1.
        line: usize,
        /// The label of the group.
        label: String,
        /// The path that was asked for.
        path: String,
        /// The number that is there.
        found: String,
        /// The least number with which the text holds.
        low: f64,
        /// The largest number with which the text holds.
        high: f64,
    },
}
