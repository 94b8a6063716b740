//! What problems show of a run beside its numbers, written down: tables as CSV, the rest as pictures.

use std::fs;
use std::path::Path;

use fabnet_core::Finding;
use fabnet_core::finding::Content;

use crate::figure::{self, FigureError};
use crate::folder::Folder;

/// Writes what a run has found into a folder of its own within the results.
pub(crate) fn write(folder: &Folder, label: &str, findings: &[Finding]) -> Result<(), FigureError> {
    if findings.is_empty() {
        return Ok(());
    }
    let path = folder.file("findings").join(file_name(label));
    fs::create_dir_all(&path).map_err(|error| FigureError::Files { path: path.clone(), error })?;
    for finding in findings {
        if let Some(table) = table(&finding.content) {
            write_table(&path.join(format!("{}.csv", finding.name)), &table)?;
        }
        figure::draw_finding(finding, &path)?;
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

fn write_table(path: &Path, rows: &[Vec<String>]) -> Result<(), FigureError> {
    let failed = |error: std::io::Error| FigureError::Files { path: path.to_owned(), error };
    let mut out = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| out.write_record(row)).map_err(|error| failed(error.into()))?;
    figure::write(path, &out.into_inner().map_err(|error| failed(error.into_error()))?)
}

/// A label as the name of a folder.
fn file_name(label: &str) -> String {
    label.chars().map(|letter| if letter.is_alphanumeric() || "._=-".contains(letter) { letter } else { '-' }).collect()
}
