//! What problems show of a run beside its metrics, written to files: tables as CSV, the rest as
//! pictures.

use std::path::Path;

use fabnet_core::finding::{Content, Histogram};
use fabnet_core::{Finding, ProblemExt, Scalar, View};
use fabnet_files::Files;

use crate::figure::{self, FigureError};
use crate::plan::Job;
use crate::results::{Folder, job_file_name};

/// Writes the findings of a run into a folder of their own within the results.
pub(super) fn write<T: Scalar>(folder: &Folder, job: Job<'_>, view: &View<'_, T>) -> Result<(), FigureError> {
    write_into(&**folder.files(), &folder.file("findings").join(job_file_name(job)), view)
}

/// Writes the findings of a run into this folder.
pub(super) fn write_into<T: Scalar>(files: &dyn Files, path: &Path, view: &View<'_, T>) -> Result<(), FigureError> {
    let findings = view.problem.findings(view);
    if findings.is_empty() {
        return Ok(());
    }
    files.create_folder(path).map_err(|error| FigureError::Files { path: path.to_owned(), error })?;
    findings.iter().try_for_each(|finding| write_one(files, path, finding))
}

fn write_one(files: &dyn Files, path: &Path, finding: &Finding) -> Result<(), FigureError> {
    if let Some(table) = table(&finding.content) {
        write_table(files, &path.join(format!("{}.csv", finding.name)), &table)?;
    }
    figure::draw_finding(files, finding, path)
}

/// The rows of a finding that can be written as a table, with their header.
fn table(content: &Content) -> Option<Vec<Vec<String>>> {
    match content {
        Content::Table { header, rows } => Some(std::iter::once(header).chain(rows).cloned().collect()),
        Content::Counts { axes, rows, counts } => {
            let columns = counts.first().map_or(0, Vec::len);
            let header =
                std::iter::once(axes[0].clone()).chain((0..columns).map(|column| format!("{} {column}", axes[1])));
            let row = |(name, counts): (&String, &Vec<u64>)| {
                std::iter::once(name.clone()).chain(counts.iter().map(u64::to_string)).collect()
            };
            Some(std::iter::once(header.collect()).chain(rows.iter().zip(counts).map(row)).collect())
        }
        Content::Histogram(histogram) => Some(histogram_table(histogram)),
        Content::Pictures(_) => None,
    }
}

/// The intervals of a histogram with their counts.
fn histogram_table(histogram: &Histogram) -> Vec<Vec<String>> {
    let names = histogram.series.iter().map(|series| series.name.clone());
    let header: Vec<String> = ["from".to_owned(), "to".to_owned()].into_iter().chain(names).collect();
    let bars = histogram.series.first().map_or(0, |series| series.counts.len());
    let (low, high) = histogram.range;
    let edge = |bar: usize| (low + (high - low) * bar as f64 / bars as f64).to_string();
    let row = |bar: usize| {
        let counts = histogram.series.iter().map(|series| series.counts[bar].to_string());
        [edge(bar), edge(bar + 1)].into_iter().chain(counts).collect()
    };
    std::iter::once(header).chain((0..bars).map(row)).collect()
}

fn write_table(files: &dyn Files, path: &Path, rows: &[Vec<String>]) -> Result<(), FigureError> {
    let failed = |error: std::io::Error| FigureError::Files { path: path.to_owned(), error };
    let mut out = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| out.write_record(row)).map_err(|error| failed(error.into()))?;
    figure::write(files, path, &out.into_inner().map_err(|error| failed(error.into_error()))?)
}
