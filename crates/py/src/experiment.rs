//! Experiments, as the command runs them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fabnet_lab::{Experiment, Folder, Pace, Plan, Witness, carry_out_plan, conclude, topics};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The plan of a text, of which some values are set differently; files that it names are relative to `file`.
pub(crate) fn plan(text: &str, file: &Path, changes: &[String]) -> PyResult<Plan> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let mut experiment = Experiment::parse(text, file).map_err(|error| wrong(&error))?;
    changes.iter().try_for_each(|change| experiment.set(change)).map_err(|error| wrong(&error))?;
    experiment.plan().map_err(|error| wrong(&error))
}

/// What the main thread tells those that work.
struct Follow {
    interrupted: AtomicBool,
}

impl Witness for Follow {
    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Carries out an experiment, with results in a folder. Ctrl-C stops it, and what was recorded stays.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    text: &str,
    file: PathBuf,
    changes: Vec<String>,
    out: PathBuf,
    threads: usize,
) -> PyResult<()> {
    let failed = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
    let plan = plan(text, &file, &changes)?.with_checksums().map_err(|error| failed(&error))?;
    let folder = Folder::new(&out);
    if folder.is_used() {
        return Err(PyValueError::new_err(format!("{} holds results already: choose another `out`", out.display())));
    }
    folder.begin(&plan).map_err(|error| failed(&error))?;
    let follow = Follow { interrupted: AtomicBool::new(false) };
    let threads = if threads == 0 { thread::available_parallelism().map_or(1, usize::from) } else { threads };
    // Signals reach the main thread only, so others do the work.
    let (report, signal) = thread::scope(|scope| {
        let work = scope.spawn(|| carry_out_plan(&plan, &folder, Pace::new(threads), &follow));
        let mut signal = Ok(());
        while !work.is_finished() {
            py.detach(|| thread::sleep(Duration::from_millis(5)));
            if signal.is_ok() {
                signal = py.check_signals();
                follow.interrupted.store(signal.is_err(), Ordering::Relaxed);
            }
        }
        (work.join(), signal)
    });
    signal?;
    report.map_err(|_| PyRuntimeError::new_err("a thread died"))?.map_err(|error| {
        if !error.can_be_resumed() {
            folder.discard_if_empty();
        }
        failed(&error)
    })?;
    conclude(&folder).map_err(|error| failed(&error))?;
    Ok(())
}

/// What can be known of an experiment before it is run: a text, and what would make it fail.
#[pyfunction]
pub(crate) fn check(text: &str, file: PathBuf, changes: Vec<String>) -> PyResult<(String, Vec<String>)> {
    let check = fabnet_lab::check(&plan(text, &file, &changes)?, 1);
    let check = check.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((check.to_string(), check.obstacles))
}

/// The entries of a registry, each with a line on what it is.
#[pyfunction]
pub(crate) fn listing(topic: &str) -> PyResult<Vec<(String, String)>> {
    let topic = topics().into_iter().find(|known| known.name == topic);
    let topic = topic.ok_or_else(|| PyValueError::new_err("there is no such topic"))?;
    Ok(topic.entries().map(|(name, about)| (name.to_owned(), about.to_owned())).collect())
}
