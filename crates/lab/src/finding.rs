//! What problems show of a run beside its numbers, written down: tables as CSV, the rest as pictures.

use std::fs;
use std::ops::Range;
use std::path::Path;

use fabnet_core::finding::Content;
use fabnet_core::observe::Agents;
use fabnet_core::{Finding, Peer, Scalar, View};

use crate::figure::{self, FigureError};
use crate::folder::Folder;
use crate::setup::Setup;

/// Writes what a run has found into a folder of its own within the results.
pub(crate) fn write(folder: &Folder, label: &str, findings: &[Finding]) -> Result<(), FigureError> {
    write_all(&folder.file("findings").join(file_name(label)), findings)
}

/// Writes what one agent of a real run has found, its private coordinates included: this stays with its node.
pub fn write_findings_of<T: Scalar>(setup: &Setup<T>, peer: &Peer<T>, folder: &Path) -> Result<(), FigureError> {
    let (problem, algorithm) = (&*setup.problem, &*setup.algorithm);
    let (round, evaluations, agents) = (peer.round(), peer.work().evaluations, &Alone(peer));
    let view = View { round, problem, algorithm, bytes_per_agent: 0.0, evaluations, agents };
    write_all(folder, &problem.findings(&view))
}

/// An agent that nobody else is seen with.
struct Alone<'a, T: Scalar>(&'a Peer<T>);

impl<T: Scalar> Agents<T> for Alone<'_, T> {
    fn range(&self) -> Range<usize> {
        let node = self.0.node() as usize;
        node..node + 1
    }

    fn row(&self, _agent: usize) -> &[T] {
        self.0.row()
    }

    fn keep(&self, _agent: usize) -> &[T] {
        self.0.keep()
    }

    fn input(&self, _agent: usize) -> &[T] {
        self.0.input()
    }
}

fn write_all(path: &Path, findings: &[Finding]) -> Result<(), FigureError> {
    if findings.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path).map_err(|error| FigureError::Files { path: path.to_owned(), error })?;
    for finding in findings {
        if let Some(table) = table(&finding.content) {
            write_table(&path.join(format!("{}.csv", finding.name)), &table)?;
        }
        figure::draw_finding(finding, path)?;
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
