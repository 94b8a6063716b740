//! What the runs of a plan need to continue after a kill, and what they leave when they are done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::Files;
use serde::{Deserialize, Serialize};

use super::ending::RunEnding;
use super::error::FolderError;
use super::rows::{Extent, Rows};
use super::verified::{self, Checksum};

/// The folder `jobs/`: the rows of each run, its last checkpoint and, when it is done, its ending.
pub(crate) struct Jobs {
    files: Arc<dyn Files>,
    /// The path of the folder `jobs/`.
    path: PathBuf,
    /// The checksum of the plan that the runs belong to.
    plan: u64,
}

/// How far a run was, beside the state of its agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The extent of the rows so far.
    pub(crate) rows: Extent,
    /// The seconds spent in rounds so far.
    pub(crate) seconds: f64,
    /// The round since which the run is beyond the limits of divergence, if it is.
    pub(crate) away_since: Option<u64>,
    /// The round of the last record.
    pub(crate) round: Option<u64>,
}

/// A run that is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FinishedRun {
    /// The extent of all its rows.
    pub(crate) rows: Extent,
    /// How the run ended.
    pub(crate) ending: RunEnding,
}

impl Jobs {
    /// The jobs in this folder, which belong to a plan with this text.
    pub(super) fn new(files: Arc<dyn Files>, path: PathBuf, plan: &[u8]) -> Self {
        Self { files, path, plan: Checksum::of(plan) }
    }

    /// Reads the last checkpoint of a run, with the state of its agents.
    pub(crate) fn checkpoint(&self, run: usize) -> Result<Option<(Checkpoint, Vec<u8>)>, FolderError> {
        let path = self.file(run, "state");
        let Some(mut bytes) = verified::read(&*self.files, &path, self.plan)? else { return Ok(None) };
        let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let state = bytes.split_off((line + 1).min(bytes.len()));
        Ok(Some((parse(&path, &bytes)?, state)))
    }

    /// Writes a checkpoint in place of the last one: a line of JSON, then the state. The rows that
    /// it counts must have been synced before.
    pub(crate) fn save(&self, run: usize, checkpoint: &Checkpoint, state: &[u8]) -> Result<(), FolderError> {
        let path = self.file(run, "state");
        verified::write(&*self.files, &path, self.plan, &[&json(&path, checkpoint)?, b"\n", state])
    }

    /// Opens the rows of a run: those up to its checkpoint, or none yet.
    pub(crate) fn rows(&self, run: usize, after: Option<Extent>) -> Result<Rows, FolderError> {
        let path = self.file(run, "csv");
        match after {
            Some(extent) => Rows::resume(self.files.clone(), path, extent),
            None => Rows::begin(self.files.clone(), path),
        }
    }

    /// Notes that a run is done. Its rows must have been synced before.
    pub(crate) fn finish(&self, run: usize, done: &FinishedRun) -> Result<(), FolderError> {
        let path = self.file(run, "json");
        verified::write(&*self.files, &path, self.plan, &[&json(&path, done)?])?;
        let state = self.file(run, "state");
        self.files.remove_if_there(&state).map_err(|error| FolderError::files(&state, error))
    }

    /// Reads how a run ended, if it is done. Its rows are checked now, before other runs take
    /// hours.
    pub(crate) fn done(&self, run: usize) -> Result<Option<FinishedRun>, FolderError> {
        let path = self.file(run, "json");
        let Some(contents) = verified::read(&*self.files, &path, self.plan)? else { return Ok(None) };
        let done: FinishedRun = parse(&path, &contents)?;
        done.rows.read(&*self.files, &self.file(run, "csv"))?;
        Ok(Some(done))
    }

    /// Reads the rows of a run for the records: all rows of a run that is done, and as many
    /// complete ones as there are of another run.
    pub(super) fn recorded(&self, run: usize, done: Option<&FinishedRun>) -> Result<Vec<u8>, FolderError> {
        let path = self.file(run, "csv");
        if let Some(done) = done {
            return done.rows.read(&*self.files, &path);
        }
        let mut rows =
            self.files.read_if_there(&path).map_err(|error| FolderError::files(&path, error))?.unwrap_or_default();
        rows.truncate(rows.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        Ok(rows)
    }

    fn file(&self, run: usize, kind: &str) -> PathBuf {
        self.path.join(format!("{run:05}.{kind}"))
    }
}

fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FolderError> {
    serde_json::to_vec(value).map_err(|error| FolderError::files(path, error.into()))
}

fn parse<V: for<'d> Deserialize<'d>>(path: &Path, bytes: &[u8]) -> Result<V, FolderError> {
    serde_json::from_slice(bytes).map_err(|error| FolderError::form(path, &error))
}
