//! What problems show of a run beside its numbers, written down: tables as CSV, the rest as pictures.

use std::path::Path;

use fabnet_core::finding::Content;
use fabnet_core::{Finding, Peer, Scalar};
use fabnet_files::Files;

use crate::alone::Alone;
use crate::figure::{self, FigureError};
use crate::folder::Folder;
use crate::job::Job;
use crate::setup::Setup;

/// Writes what a run has found into a folder of its own within the results.
pub(crate) fn write(folder: &Folder, job: Job<'_>, findings: &[Finding]) -> Result<(), FigureError> {
    write_all(&**folder.files(), &folder.file("findings").join(job.file_name()), findings)
}

/// Writes what one agent of a real run has found, its private coordinates included: this stays with its node.
pub fn write_findings_of<T: Scalar>(
    files: &dyn Files,
    setup: &Setup<T>,
    peer: &Peer<T>,
    folder: &Path,
) -> Result<(), FigureError> {
    write_all(files, folder, &setup.problem.findings(&Alone(peer).view(setup)))
}

fn write_all(files: &dyn Files, path: &Path, findings: &[Finding]) -> Result<(), FigureError> {
    if findings.is_empty() {
        return Ok(());
    }
    files.create_folder(path).map_err(|error| FigureError::Files { path: path.to_owned(), error })?;
    for finding in findings {
        if let Some(table) = table(&finding.content) {
            write_table(files, &path.join(format!("{}.csv", finding.name)), &table)?;
        }
        figure::draw_finding(files, finding, path)?;
    }
    Ok(())
}

/// The rows of what can be written as a table, with their header.
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
        Content::Pictures(_) => None,
    }
}

fn write_table(files: &dyn Files, path: &Path, rows: &[Vec<String>]) -> Result<(), FigureError> {
    let failed = |error: std::io::Error| FigureError::Files { path: path.to_owned(), error };
    let mut out = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| out.write_record(row)).map_err(|error| failed(error.into()))?;
    figure::write(files, path, &out.into_inner().map_err(|error| failed(error.into_error()))?)
}
