//! The folder of results of an experiment.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fabnet_files::{Files, Lock, SystemFiles};

use super::error::{Damage, FolderError};
use super::jobs::{FinishedRun, Jobs};
use super::solution_paths::solution_paths;
use super::summary::{RunSummary, Summary};
use crate::file::{Diagnostics, Experiment};
use crate::plan::{Job, Origin, Plan};

/// A folder of results.
///
/// While runs are under way, `jobs/` within it holds what they need to continue. Results are
/// written completely before `jobs/` is renamed, in one step, and then removed: a folder that has a
/// plan but no `jobs/` is finished.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: Arc<dyn Files>,
    /// The lock of the process that carries out the runs.
    lock: OnceLock<Lock>,
}

impl Folder {
    /// The folder at this path.
    pub fn new(path: &Path) -> Self {
        Self::with_files(path, Arc::new(SystemFiles::SHARED))
    }

    /// The folder at this path, on other files than those of the operating system.
    pub fn with_files(path: &Path, files: Arc<dyn Files>) -> Self {
        Self { path: path.to_owned(), files, lock: OnceLock::new() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The files that the folder is on.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// Whether the folder holds results of an earlier experiment.
    pub fn is_used(&self) -> bool {
        ["plan.toml", "records.csv", "summary.json"].iter().any(|name| self.files.exists(&self.file(name)))
    }

    /// Reads the plan of the runs in the folder.
    pub fn plan(&self) -> Result<Plan, Diagnostics> {
        let path = self.file("plan.toml");
        let read = self.files.read(&path).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        let text = read.map_err(|error| {
            Diagnostics::one(&path, Origin::Missing, "", format!("cannot be read ({error}): check the path"))
        })?;
        Experiment::parse(&text, &path)?.plan()
    }

    /// Reads the summary, if there is one.
    pub fn summary(&self) -> Result<Option<Summary>, FolderError> {
        let path = self.file("summary.json");
        let text = self.files.read_if_there(&path).map_err(|error| FolderError::files(&path, error))?;
        let parse = |text: Vec<u8>| serde_json::from_slice(&text).map_err(|error| FolderError::form(&path, &error));
        text.map(parse).transpose()
    }

    /// Makes the folder, with the plan, and locks it until the value is dropped.
    pub fn begin(&self, plan: &Plan) -> Result<(), FolderError> {
        self.begin_with(plan, None)
    }

    /// Does the same for the results of real nodes, which a simulation must not continue.
    pub fn begin_for_nodes(&self, plan: &Plan) -> Result<(), FolderError> {
        self.begin_with(plan, Some(self.of_nodes()))
    }

    fn begin_with(&self, plan: &Plan, mark: Option<PathBuf>) -> Result<(), FolderError> {
        let begin = || {
            self.files.create_folder(&self.jobs())?;
            self.lock()?;
            self.clear()?;
            if let Some(mark) = &mark {
                self.files.write_whole(mark, b"")?;
            }
            self.files.write_whole(&self.file("plan.toml"), plan.to_toml().as_bytes())
        };
        begin().map_err(|error| {
            let path = self.path.clone();
            if error.kind() == ErrorKind::WouldBlock {
                return FolderError::Locked { path };
            }
            self.discard();
            FolderError::Begin { path, error }
        })
    }

    /// Locks the folder until the value is dropped, to continue the runs of an earlier process, or
    /// tells that there is nothing left to do.
    pub fn resume(&self) -> Result<FolderState, FolderError> {
        if self.files.is_folder(&self.jobs()) {
            self.lock().map_err(|error| {
                let is_held = error.kind() == ErrorKind::WouldBlock;
                if is_held {
                    FolderError::Locked { path: self.path.clone() }
                } else {
                    FolderError::files(&self.jobs(), error)
                }
            })?;
            if self.files.exists(&self.of_nodes()) {
                return Err(FolderError::OfNodes { path: self.path.clone() });
            }
            return Ok(FolderState::Unfinished);
        }
        self.find_results()?;
        self.remove_ended()?;
        Ok(FolderState::Finished)
    }

    /// Refuses a finished folder in which a result is missing.
    fn find_results(&self) -> Result<(), FolderError> {
        let summary = self.summary()?.unwrap_or_default();
        let solutions = summary.runs.into_iter().filter_map(|run| run.solution);
        for name in ["records.csv", "summary.json"].map(str::to_owned).into_iter().chain(solutions) {
            let path = self.file(&name);
            self.files.length(&path).map_err(|_| FolderError::damaged(&path, Damage::MissingResult))?;
        }
        Ok(())
    }

    /// Removes a folder in which no run has come to a checkpoint, so that a corrected experiment
    /// can use it.
    pub fn discard_if_empty(&self) {
        let kept = |name: &PathBuf| name.extension().is_some_and(|kind| kind == "state" || kind == "json");
        if self.files.list(&self.jobs()).is_ok_and(|names| !names.iter().any(kept)) {
            self.discard();
        }
    }

    /// Writes `records.csv` and `summary.json` from what the runs left.
    pub(crate) fn collect(&self, jobs: &Jobs, runs: &[(Job<'_>, Option<FinishedRun>)]) -> Result<Summary, FolderError> {
        let Some((Job { plan, .. }, _)) = runs.first() else { return Ok(Summary::default()) };
        let header = format!("run,label,seed,round,seconds,bytes_per_agent,{}\n", plan.metrics.join(","));
        let rows = runs.iter().map(|(job, done)| jobs.recorded(job.run, done.as_ref()));
        self.write_records(std::iter::once(Ok(header.into_bytes())).chain(rows))?;
        let done = runs.iter().filter_map(|(job, done)| Some(RunSummary::new(*job, &done.as_ref()?.ending)));
        let mut summary = Summary::new(plan, done.collect());
        let solutions: Vec<String> = solution_paths(plan).collect();
        summary.runs.iter_mut().for_each(|run| run.solution = solutions.get(run.run).cloned());
        self.write_summary(&summary)?;
        Ok(summary)
    }

    fn write_records(&self, parts: impl Iterator<Item = Result<Vec<u8>, FolderError>>) -> Result<(), FolderError> {
        let path = self.file("records.csv");
        let mut wrong = None;
        let parts = parts.map(|part| part.map_err(|error| io::Error::other(wrong.insert(error).to_string())));
        let written = self.files.write_parts(&path, parts).map_err(|error| FolderError::files(&path, error));
        wrong.map_or(written, Err)
    }

    /// Writes the summary to `summary.json`.
    pub(crate) fn write_summary(&self, summary: &Summary) -> Result<(), FolderError> {
        let path = self.file("summary.json");
        let json = serde_json::to_vec_pretty(summary).map_err(io::Error::from);
        json.and_then(|json| self.files.write_whole(&path, &json)).map_err(|error| FolderError::files(&path, error))
    }

    /// Marks the folder as finished, in one step, and removes what runs needed to continue.
    pub fn end(&self) -> Result<(), FolderError> {
        let (jobs, ended) = (self.jobs(), self.ended());
        let end = || {
            self.files.rename(&jobs, &ended)?;
            self.files.sync(&self.path)
        };
        end().map_err(|error| FolderError::files(&jobs, error))?;
        self.remove_ended()
    }

    /// Opens what the runs of the folder need to continue.
    pub(crate) fn open_jobs(&self) -> Result<Jobs, FolderError> {
        let path = self.file("plan.toml");
        let plan = self.files.read(&path).map_err(|error| FolderError::files(&path, error))?;
        Ok(Jobs::new(self.files.clone(), self.jobs(), &plan))
    }

    /// The path of what runs need to continue.
    fn jobs(&self) -> PathBuf {
        self.file("jobs")
    }

    /// The path of an empty file that marks the runs as those of real nodes.
    fn of_nodes(&self) -> PathBuf {
        self.jobs().join("of-nodes")
    }

    /// The path that `jobs` is renamed to when everything is done.
    fn ended(&self) -> PathBuf {
        self.file("jobs.done")
    }

    fn remove_ended(&self) -> Result<(), FolderError> {
        let ended = self.ended();
        self.files.remove_tree(&ended).map_err(|error| FolderError::files(&ended, error))
    }

    fn lock(&self) -> io::Result<()> {
        // The files refuse a second lock of the same process, so none was set before.
        let _ = self.lock.set(self.files.lock(&self.jobs().join("lock"))?);
        Ok(())
    }

    /// Removes what is left of a process that was killed before it had written its plan.
    fn clear(&self) -> io::Result<()> {
        for name in self.files.list(&self.jobs())?.iter().filter(|name| name.as_os_str() != "lock") {
            self.files.remove(&self.jobs().join(name))?;
        }
        self.files.remove_tree(&self.ended())
    }

    /// Removes the plan, and then what there is of its runs.
    fn discard(&self) {
        // A file that cannot be removed does no harm: without a plan, the folder counts as unused.
        let _ = self
            .files
            .remove_if_there(&self.file("plan.toml"))
            .and_then(|()| self.files.remove_tree(&self.jobs()))
            .and_then(|()| self.files.remove_folder(&self.path));
    }
}

/// Whether the runs of a folder are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// Some runs are left, or their results are not written yet.
    Unfinished,
    /// All runs are done, and their results are written.
    Finished,
}
