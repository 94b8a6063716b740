//! What the runs of a plan need to go on after a kill, and what they leave when they are done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::Files;
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::job::JobError;
use crate::rows::{Extent, Rows};
use crate::summary::Ending;
use crate::verified::{self, Checksum, damaged, failure};

/// The folder `jobs/`: the rows of each run, its last checkpoint and, when it is done, its ending.
pub(crate) struct Jobs {
    files: Arc<dyn Files>,
    path: PathBuf,
    /// The checksum of the plan that the runs belong to.
    plan: u64,
}

/// Where a run was, beside the state of its agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The rows so far.
    pub(crate) rows: Extent,
    /// Seconds spent so far.
    pub(crate) seconds: f64,
    /// Since when the run is away.
    pub(crate) away_since: Option<u64>,
    /// The last round that was recorded.
    pub(crate) round: Option<u64>,
}

/// A run that is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// All its rows.
    pub(crate) rows: Extent,
    /// How it ended.
    pub(crate) ending: Ending,
}

impl Jobs {
    /// Those of a folder.
    pub(crate) fn of(folder: &Folder) -> Result<Self, JobError> {
        let plan = folder.file("plan.toml");
        let text = folder.files().read(&plan).map_err(|error| failure(&plan, error))?;
        Ok(Self { files: folder.files().clone(), path: folder.jobs(), plan: Checksum::of(&text) })
    }

    /// The last checkpoint of a run, with the state of its agents.
    pub(crate) fn checkpoint(&self, run: usize) -> Result<Option<(Checkpoint, Vec<u8>)>, JobError> {
        let path = self.file(run, "state");
        let Some(mut bytes) = verified::read(&*self.files, &path, self.plan)? else { return Ok(None) };
        let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let state = bytes.split_off((line + 1).min(bytes.len()));
        Ok(Some((parse(&path, &bytes)?, state)))
    }

    /// Writes a checkpoint in place of the last one: a line of JSON, then the state. The rows that
    /// it counts have been synced before.
    pub(crate) fn save(&self, run: usize, checkpoint: &Checkpoint, state: &[u8]) -> Result<(), JobError> {
        let path = self.file(run, "state");
        verified::write(&*self.files, &path, self.plan, &[&json(&path, checkpoint)?, b"\n", state])
    }

    /// The rows of a run: those up to its checkpoint, or none yet.
    pub(crate) fn rows(&self, run: usize, after: Option<Extent>) -> Result<Rows, JobError> {
        let path = self.file(run, "csv");
        match after {
            Some(extent) => Rows::resume(self.files.clone(), path, extent),
            None => Rows::begin(self.files.clone(), path),
        }
    }

    /// Notes that a run is done. Its rows have been synced before.
    pub(crate) fn finish(&self, run: usize, done: &Done) -> Result<(), JobError> {
        let path = self.file(run, "json");
        verified::write(&*self.files, &path, self.plan, &[&json(&path, done)?])?;
        let state = self.file(run, "state");
        self.files.remove_if_there(&state).map_err(|error| failure(&state, error))
    }

    /// How a run ended, if it is done. Its rows must be there: that is found out before other runs
    /// take hours.
    pub(crate) fn done(&self, run: usize) -> Result<Option<Done>, JobError> {
        let path = self.file(run, "json");
        let Some(contents) = verified::read(&*self.files, &path, self.plan)? else { return Ok(None) };
        let done: Done = parse(&path, &contents)?;
        done.rows.read(&*self.files, &self.file(run, "csv"))?;
        Ok(Some(done))
    }

    /// The rows of a run as they go into the records: all of a run that is done, as many whole
    /// ones as there are of another one.
    pub(crate) fn recorded(&self, run: usize, done: Option<&Done>) -> Result<Vec<u8>, JobError> {
        let path = self.file(run, "csv");
        if let Some(done) = done {
            return done.rows.read(&*self.files, &path);
        }
        let mut rows = self.files.read_if_there(&path).map_err(|error| failure(&path, error))?.unwrap_or_default();
        rows.truncate(rows.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        Ok(rows)
    }

    fn file(&self, run: usize, kind: &str) -> PathBuf {
        self.path.join(format!("{run:05}.{kind}"))
    }
}

fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, JobError> {
    serde_json::to_vec(value).map_err(|error| failure(path, error.into()))
}

fn parse<V: for<'d> Deserialize<'d>>(path: &Path, bytes: &[u8]) -> Result<V, JobError> {
    serde_json::from_slice(bytes).map_err(|error| damaged(path, error.to_string()))
}
