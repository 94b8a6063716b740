//! The summaries that a report takes its numbers from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::error::ReportError;
use crate::results::median;

/// The summaries of a folder, each read once.
pub(super) struct Summaries {
    folder: PathBuf,
    read: BTreeMap<String, Json>,
}

impl Summaries {
    /// The summaries of this folder.
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: BTreeMap::new() }
    }

    /// The summary of a run, complete or reduced, which a line of a template asks for.
    pub(super) fn get(&mut self, line: usize, run: &str) -> Result<&Json, ReportError> {
        let path = self.folder.join(run);
        match self.read.entry(run.to_owned()) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let reduced = || read_summary(&self.folder.join(format!("{run}.json")));
                let summary = read_summary(&path.join("summary.json")).or_else(reduced);
                let Some(summary) = summary else { return Err(ReportError::Run { line, path }) };
                if is_unfinished(&summary) {
                    return Err(ReportError::Unfinished { line, path });
                }
                Ok(entry.insert(summary))
            }
        }
    }
}

/// Reads a summary, if it is there and can be understood.
fn read_summary(path: &Path) -> Option<Json> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Whether a run of a group was interrupted or not carried out.
fn is_unfinished(summary: &Json) -> bool {
    let groups = summary["groups"].as_array();
    groups.is_some_and(|groups| groups.iter().any(|group| group["unfinished"].as_u64() > Some(0)))
}

/// The group of a summary that has this label.
pub(super) fn group<'s>(summary: &'s Json, label: &str) -> Option<&'s Json> {
    summary["groups"].as_array()?.iter().find(|group| group["label"] == label)
}

/// The median of a field over the runs of a group; a reduced summary has nothing but this median.
pub(super) fn median_of_runs(summary: &Json, label: &str, field: &str) -> Option<f64> {
    let Some(runs) = summary["runs"].as_array() else { return group(summary, label)?["run"][field].as_f64() };
    let of_group = runs.iter().filter(|run| run["label"] == label);
    let mut values = of_group.map(|run| run[field].as_f64()).collect::<Option<Vec<f64>>>()?;
    values.sort_by(f64::total_cmp);
    median(&values)
}
