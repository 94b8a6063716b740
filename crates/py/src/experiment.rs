//! Experiments, with the same results as the command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fabnet_files::SystemFiles;
use fabnet_lab::{Experiment, Folder, JobError, Plan, Progress, Report, RunOptions, carry_out_plan, conclude, topics};
use fabnet_watch::{EXPORTED, export, read_recording};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Resolves the text of an experiment to a plan. `changes` are assignments as `--set` takes them;
/// paths in the text are relative to `file`.
pub(crate) fn plan(text: &str, file: &Path, changes: &[String]) -> PyResult<Plan> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let mut experiment = Experiment::parse(text, file).map_err(|error| wrong(&error))?;
    changes.iter().try_for_each(|change| experiment.set(change)).map_err(|error| wrong(&error))?;
    experiment.plan().map_err(|error| wrong(&error))
}

/// Tells the threads that work whether the main thread was interrupted.
struct Interruption {
    interrupted: AtomicBool,
}

impl Progress for Interruption {
    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Runs an experiment and writes results to a folder, with `watch` also what people can watch.
/// Ctrl-C stops it and keeps what was recorded.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    text: &str,
    file: PathBuf,
    changes: Vec<String>,
    out: PathBuf,
    threads: usize,
    watch: bool,
) -> PyResult<()> {
    let failed = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
    let plan = plan(text, &file, &changes)?.with_checksums().map_err(|error| failed(&error))?;
    let folder = Folder::new(&out);
    if folder.is_used() {
        return Err(PyValueError::new_err(format!("{} holds results already: choose another `out`", out.display())));
    }
    folder.begin(&plan).map_err(|error| failed(&error))?;
    let threads = if threads == 0 { thread::available_parallelism().map_or(1, usize::from) } else { threads };
    simulate(py, &plan, &folder, RunOptions { watch, ..RunOptions::new(threads) })?.map_err(|error| {
        if !error.can_be_resumed() {
            folder.discard_if_empty();
        }
        failed(&error)
    })?;
    conclude(&folder).map_err(|error| failed(&error))?;
    Ok(())
}

/// Carries out the runs of a plan; an interruption of the main thread stops them and is raised.
fn simulate(py: Python<'_>, plan: &Plan, folder: &Folder, options: RunOptions) -> PyResult<Result<Report, JobError>> {
    let interruption = Interruption { interrupted: AtomicBool::new(false) };
    // Python handles signals in the main thread only, so another thread does the work.
    let (report, signal) = thread::scope(|scope| {
        let work = scope.spawn(|| carry_out_plan(plan, folder, options, &interruption));
        let mut signal = Ok(());
        while !work.is_finished() {
            py.detach(|| thread::sleep(Duration::from_millis(5)));
            if signal.is_ok() {
                signal = py.check_signals();
                interruption.interrupted.store(signal.is_err(), Ordering::Relaxed);
            }
        }
        (work.join(), signal)
    });
    signal?;
    report.map_err(|_| PyRuntimeError::new_err("a thread died"))
}

/// The page that shows what was recorded of a run, as one HTML document.
#[pyfunction]
pub(crate) fn watch_page(recording: PathBuf) -> PyResult<String> {
    let failed = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
    let recorded = read_recording(&SystemFiles::SHARED, &recording).map_err(|error| failed(&error))?;
    export(&recorded, EXPORTED).map_err(|error| failed(&error))
}

/// Reports what can be known about an experiment before it is run: a text, and the reasons why a
/// run would fail.
#[pyfunction]
pub(crate) fn check(text: &str, file: PathBuf, changes: Vec<String>) -> PyResult<(String, Vec<String>)> {
    let check = fabnet_lab::check(&plan(text, &file, &changes)?, 1);
    let check = check.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((check.to_string(), check.obstacles))
}

/// Lists the entries of a registry, each with a line that describes it.
#[pyfunction]
pub(crate) fn listing(topic: &str) -> PyResult<Vec<(String, String)>> {
    let topic = topics().into_iter().find(|known| known.name == topic);
    let topic = topic.ok_or_else(|| PyValueError::new_err("there is no such topic"))?;
    Ok(topic.entries().map(|(name, about)| (name.to_owned(), about.to_owned())).collect())
}
