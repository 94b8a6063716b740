//! The folder of results: what an experiment leaves behind.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fabnet_files::{Files, Lock, SystemFiles};

use crate::experiment::Experiment;
use crate::job::{Job, JobError};
use crate::jobs::{Done, Jobs};
use crate::mistake::{Mistakes, Origin};
use crate::plan::Plan;
use crate::solution;
use crate::summary::{RunSummary, Summary};
use crate::verified::{damaged, failure};

/// A folder of results.
///
/// While runs are under way, `jobs/` within it holds what they need to go on. Results are written
/// whole before `jobs/` gets another name, in one step, and is removed: where there is a plan but
/// no `jobs/`, everything is done.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: Arc<dyn Files>,
    /// Held by the process that carries out the runs.
    lock: OnceLock<Lock>,
}

impl Folder {
    /// This folder.
    pub fn new(path: &Path) -> Self {
        Self::with_files(path, Arc::new(SystemFiles::SHARED))
    }

    /// This folder, on other files than those of the operating system.
    pub fn with_files(path: &Path, files: Arc<dyn Files>) -> Self {
        Self { path: path.to_owned(), files, lock: OnceLock::new() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The files that it is on.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// Whether something was run here before.
    pub fn is_used(&self) -> bool {
        ["plan.toml", "records.csv", "summary.json"].iter().any(|name| self.files.exists(&self.file(name)))
    }

    /// The plan of the runs in it.
    pub fn plan(&self) -> Result<Plan, Mistakes> {
        let path = self.file("plan.toml");
        let read = self.files.read(&path).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        let text = read.map_err(|error| {
            Mistakes::one(&path, Origin::Missing, "", format!("cannot be read ({error}): check the path"))
        })?;
        Experiment::parse(&text, &path)?.plan()
    }

    /// The summary, if there is one.
    pub fn summary(&self) -> Result<Option<Summary>, JobError> {
        let path = self.file("summary.json");
        let text = self.files.read_if_there(&path).map_err(|error| failure(&path, error))?;
        let parse = |text: Vec<u8>| serde_json::from_slice(&text).map_err(|error| damaged(&path, error.to_string()));
        text.map(parse).transpose()
    }

    /// Makes the folder, with the plan. It is this process's until the value is dropped.
    pub fn begin(&self, plan: &Plan) -> Result<(), JobError> {
        self.begin_as(plan, Carrier::Simulation)
    }

    /// The same for results of real nodes, which a simulation must not go on with.
    pub fn begin_for_nodes(&self, plan: &Plan) -> Result<(), JobError> {
        self.begin_as(plan, Carrier::Nodes)
    }

    fn begin_as(&self, plan: &Plan, carrier: Carrier) -> Result<(), JobError> {
        let begin = || {
            self.files.create_folder(&self.jobs())?;
            self.lock()?;
            self.clear()?;
            if carrier == Carrier::Nodes {
                self.files.write_whole(&self.of_nodes(), b"")?;
            }
            self.files.write_whole(&self.file("plan.toml"), plan.to_toml().as_bytes())
        };
        begin().map_err(|error| {
            let path = self.path.clone();
            if error.kind() == ErrorKind::WouldBlock {
                return JobError::Locked { path };
            }
            self.discard();
            JobError::Begin { path, error }
        })
    }

    /// Goes on with the runs of an earlier process, or says that there is nothing left to do. It
    /// is this process's until the value is dropped.
    pub fn resume(&self) -> Result<Standing, JobError> {
        if self.files.is_folder(&self.jobs()) {
            self.lock().map_err(|error| {
                let is_held = error.kind() == ErrorKind::WouldBlock;
                if is_held { JobError::Locked { path: self.path.clone() } } else { failure(&self.jobs(), error) }
            })?;
            if self.files.exists(&self.of_nodes()) {
                return Err(JobError::OfNodes { path: self.path.clone() });
            }
            return Ok(Standing::Unfinished);
        }
        self.find_results()?;
        self.remove_ended()?;
        Ok(Standing::Finished)
    }

    /// An error if something is missing that runs have left that are done.
    fn find_results(&self) -> Result<(), JobError> {
        let summary = self.summary()?.unwrap_or_default();
        let solutions = summary.runs.into_iter().filter_map(|run| run.solution);
        for name in ["records.csv", "summary.json"].map(str::to_owned).into_iter().chain(solutions) {
            let path = self.file(&name);
            self.files.length(&path).map_err(|_| damaged(&path, "it is missing, although all runs were done"))?;
        }
        Ok(())
    }

    /// Removes a folder in which no run has come to a checkpoint, so that a corrected experiment
    /// can take its place.
    pub fn discard_if_empty(&self) {
        let kept = |name: &PathBuf| name.extension().is_some_and(|kind| kind == "state" || kind == "json");
        if self.files.list(&self.jobs()).is_ok_and(|names| !names.iter().any(kept)) {
            self.discard();
        }
    }

    /// Puts together what the runs left: `records.csv` and `summary.json`.
    pub(crate) fn collect(&self, jobs: &Jobs, runs: &[(Job<'_>, Option<Done>)]) -> Result<Summary, JobError> {
        let Some((Job { plan, .. }, _)) = runs.first() else { return Ok(Summary::default()) };
        let header = format!("run,label,seed,round,seconds,bytes_per_agent,{}\n", plan.metrics.join(","));
        let rows = runs.iter().map(|(job, done)| jobs.recorded(job.run, done.as_ref()));
        self.write_records(std::iter::once(Ok(header.into_bytes())).chain(rows))?;
        let done = runs.iter().filter_map(|(job, done)| Some(RunSummary::new(*job, &done.as_ref()?.ending)));
        let mut summary = Summary::new(plan, done.collect());
        let solutions: Vec<String> = solution::paths(plan).collect();
        summary.runs.iter_mut().for_each(|run| run.solution = solutions.get(run.run).cloned());
        self.write_summary(&summary)?;
        Ok(summary)
    }

    fn write_records(&self, parts: impl Iterator<Item = Result<Vec<u8>, JobError>>) -> Result<(), JobError> {
        let path = self.file("records.csv");
        let mut wrong = None;
        let parts = parts.map(|part| part.map_err(|error| io::Error::other(wrong.insert(error).to_string())));
        let written = self.files.write_parts(&path, parts).map_err(|error| failure(&path, error));
        wrong.map_or(written, Err)
    }

    /// Writes `summary.json`.
    pub(crate) fn write_summary(&self, summary: &Summary) -> Result<(), JobError> {
        let path = self.file("summary.json");
        let json = serde_json::to_vec_pretty(summary).map_err(io::Error::from);
        json.and_then(|json| self.files.write_whole(&path, &json)).map_err(|error| failure(&path, error))
    }

    /// Notes in one step that everything is done, and removes what was needed to go on.
    pub fn end(&self) -> Result<(), JobError> {
        let (jobs, ended) = (self.jobs(), self.ended());
        let end = || {
            self.files.rename(&jobs, &ended)?;
            self.files.sync(&self.path)
        };
        end().map_err(|error| failure(&jobs, error))?;
        self.remove_ended()
    }

    /// What runs need to go on.
    pub(crate) fn jobs(&self) -> PathBuf {
        self.file("jobs")
    }

    /// Says, if it is there, that the runs are those of real nodes.
    fn of_nodes(&self) -> PathBuf {
        self.jobs().join("of-nodes")
    }

    /// The same as `jobs` when everything is done.
    fn ended(&self) -> PathBuf {
        self.file("jobs.done")
    }

    fn remove_ended(&self) -> Result<(), JobError> {
        let ended = self.ended();
        self.files.remove_tree(&ended).map_err(|error| failure(&ended, error))
    }

    fn lock(&self) -> io::Result<()> {
        // A second lock of the same process would have been refused, so there is none yet.
        let _ = self.lock.set(self.files.lock(&self.jobs().join("lock"))?);
        Ok(())
    }

    /// Removes what a process left that was killed before it had written its plan.
    fn clear(&self) -> io::Result<()> {
        for name in self.files.list(&self.jobs())?.iter().filter(|name| name.as_os_str() != "lock") {
            self.files.remove(&self.jobs().join(name))?;
        }
        self.files.remove_tree(&self.ended())
    }

    /// Removes the plan, and then what there is of its runs.
    fn discard(&self) {
        // What cannot be removed does no harm: without a plan, the folder counts as unused.
        let _ = self
            .files
            .remove_if_there(&self.file("plan.toml"))
            .and_then(|()| self.files.remove_tree(&self.jobs()))
            .and_then(|()| self.files.remove_folder(&self.path));
    }
}

/// Who carries out the runs of a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Simulation,
    Nodes,
}

/// How far the runs of a folder are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Some are left, or their results are to be put together.
    Unfinished,
    /// All of them are done, with their results.
    Finished,
}
