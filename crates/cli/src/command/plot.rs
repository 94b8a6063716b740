//! `fabnet plot`: draws figures from folders of results.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fabnet_lab::Folder;
use fabnet_lab::figure::{self, Band, Effort, Format, Length, Request};

use super::existing::require_results;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet plot runs/table
  fabnet plot runs/table --metric relative_error --by bytes --band range
  fabnet plot runs/fab runs/dfab --out comparison.pdf --width 3.25in --label dfab=dFAB

Without --out, the figures of each folder are drawn again into its own figures/. With --out, the \
groups of all folders are drawn together in one chart. It shows --metric, or else the metric of the \
experiment's target or its first metric, by --by or else by rounds.

With --width, figures are for print: 8 pt text at that width, and no title.

On a logarithmic axis, a line is the median over seeds and its band the quartiles; on a linear axis, \
they are the mean and the standard deviation. A triangle marks where a line leaves the frame.")]
pub(crate) struct Plot {
    /// Folders with results
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Draw only this metric
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    /// Draw only against rounds, seconds or bytes
    #[arg(long, value_name = "rounds|seconds|bytes")]
    by: Option<Effort>,
    /// The printed width, such as 3.25in, 84mm, 8.4cm or 234pt
    #[arg(long, value_name = "LENGTH")]
    width: Option<Length>,
    /// The file formats, separated by commas; if not given, svg,png
    #[arg(long, value_name = "pdf,svg,png", value_delimiter = ',')]
    format: Vec<Format>,
    /// Show a group under another name; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    label: Vec<String>,
    /// What bands show: quartiles or the range around the median, or std around the mean
    #[arg(long, value_name = "quartiles|std|range")]
    band: Option<Band>,
    /// Draw one chart of all folders into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Plot {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        self.folders.iter().try_for_each(|path| require_results(path))?;
        let folders: Vec<Folder> = self.folders.iter().map(|path| Folder::new(path)).collect();
        let Self { metric, by, band, width, format: formats, label: labels, .. } = self;
        let request = Request { metric, by, band, width, formats, labels };
        let written = if let Some(file) = &self.out {
            figure::draw_together(&folders, file, &request)?
        } else {
            let drawn: Result<Vec<_>, _> = folders.iter().map(|folder| figure::draw_as(folder, &request)).collect();
            drawn?.concat()
        };
        for file in written {
            print_line(file.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}
