//! The records of an experiment, run by run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use csv::{Reader, StringRecord};

use super::error::FigureError;
use crate::results::{Folder, Outcome, Summary};

/// A run of the records.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// The label of its group.
    pub(super) label: String,
    pub(super) ending: RunEnd,
    /// Its rows, by ascending rounds.
    pub(crate) rows: Vec<Row>,
}

/// A group as it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedGroup {
    pub(super) label: String,
    /// The number of its runs.
    pub(super) runs: usize,
    /// Whether there is a summary that says how the runs ended.
    pub(super) summarised: bool,
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The run has done its rounds or reached its target, and counts as staying where it is.
    Settled,
    /// The run was interrupted.
    Open,
    /// The run has diverged.
    Diverged,
}

/// A row of the records.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) round: u64,
    pub(crate) seconds: f64,
    pub(crate) bytes: f64,
    /// The value of each metric; NaN where the metric means nothing.
    pub(crate) values: Vec<f64>,
}

impl Run {
    /// The last row up to a round.
    pub(super) fn at(&self, round: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.round <= round);
        self.rows.get(after.checked_sub(1)?)
    }

    /// Whether the run diverged before this round.
    pub(super) fn has_left_by(&self, round: u64) -> bool {
        self.ending == RunEnd::Diverged && self.rows.last().is_none_or(|last| last.round < round)
    }
}

/// Reads the runs of a folder, with these metrics.
pub(crate) fn read_runs(
    folder: &Folder,
    metrics: &[String],
    endings: Option<&RunEnds>,
) -> Result<Vec<Run>, FigureError> {
    let path = folder.file("records.csv");
    let wrong = |error| FigureError::Records { path: path.clone(), error };
    let text = folder.files().read(&path).map_err(|error| wrong(error.into()))?;
    let mut reader = Reader::from_reader(text.as_slice());
    let table = RecordsTable { header: reader.headers().map_err(wrong)?.clone(), path: path.clone() };
    let mut runs = BTreeMap::new();
    for line in reader.records() {
        let line = line.map_err(wrong)?;
        let number: usize = table.number(&line, "run")?;
        let label = table.cell(&line, "label")?;
        let run = runs.entry(number).or_insert_with(|| Run {
            label: label.to_owned(),
            ending: endings.map_or(RunEnd::Settled, |known| *known.get(&number).unwrap_or(&RunEnd::Open)),
            rows: Vec::new(),
        });
        run.rows.push(table.row(&line, metrics)?);
    }
    Ok(runs.into_values().collect())
}

/// How runs have ended, by their numbers; those that have not are missing.
pub(crate) type RunEnds = BTreeMap<usize, RunEnd>;

/// Reads how runs have ended from a folder's summary, if there is one.
pub(super) fn read_endings(folder: &Folder) -> Result<Option<RunEnds>, FigureError> {
    let path = folder.file("summary.json");
    let text = folder.files().read_if_there(&path);
    let text = text.map_err(|error| FigureError::Files { path: path.clone(), error })?;
    let Some(text) = text else { return Ok(None) };
    let summary: Summary = serde_json::from_slice(&text).map_err(|error| FigureError::Summary { path, error })?;
    let ending = |outcome| if outcome == Outcome::Diverged { RunEnd::Diverged } else { RunEnd::Settled };
    Ok(Some(summary.runs.iter().map(|run| (run.run, ending(run.outcome))).collect()))
}

/// Finds cells by the names of their columns.
struct RecordsTable {
    header: StringRecord,
    path: PathBuf,
}

impl RecordsTable {
    fn row(&self, line: &StringRecord, metrics: &[String]) -> Result<Row, FigureError> {
        let value = |metric: &String| match self.cell(line, metric)? {
            "" => Ok(f64::NAN),
            _ => self.number(line, metric),
        };
        Ok(Row {
            round: self.number(line, "round")?,
            seconds: self.number(line, "seconds")?,
            bytes: self.number(line, "bytes_per_agent")?,
            values: metrics.iter().map(value).collect::<Result<_, _>>()?,
        })
    }

    fn cell<'l>(&self, line: &'l StringRecord, column: &str) -> Result<&'l str, FigureError> {
        let place = self.header.iter().position(|name| name == column);
        let cell = place.and_then(|place| line.get(place));
        cell.ok_or_else(|| FigureError::Column { path: self.path.clone(), column: column.to_owned() })
    }

    fn number<N: FromStr>(&self, line: &StringRecord, column: &str) -> Result<N, FigureError> {
        let cell = self.cell(line, column)?;
        cell.parse().map_err(|_| FigureError::Cell {
            path: self.path.clone(),
            line: line.position().map_or(0, csv::Position::line),
            column: column.to_owned(),
            cell: cell.to_owned(),
        })
    }
}
