//! Runs in which some parts are objects of Python.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::experiment::plan;
use crate::first_exception::FirstException;
use crate::python_parts::PythonParts;
use crate::round_recorder::RoundRecorder;

/// Carries out the only run of an experiment, in which the problem, the topology and the algorithm
/// may be objects of Python. `record` is called in each recorded round, with the solutions of all
/// agents if `with_points` is true: see [`RoundRecorder`].
#[pyfunction]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    text: &str,
    problem: Option<Bound<'py, PyAny>>,
    topology: Option<Bound<'py, PyAny>>,
    algorithm: Option<Bound<'py, PyAny>>,
    record: Bound<'py, PyAny>,
    with_points: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = plan(text, Path::new("solve"), &[])?;
    let (group, seed) = plan.only_run().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let failure = FirstException::default();
    let setup = PythonParts { problem, topology, algorithm }.setup(py, group, seed, &failure)?;
    let mut engine = py.detach(|| setup.simulator()).map_err(|error| failure.or(&error))?;
    let mut recorder = RoundRecorder::new(record, with_points, &plan.metrics, &engine.view());
    loop {
        failure.raise()?;
        py.check_signals()?;
        let view = engine.view();
        let (round, is_last) = (view.round, view.round == group.rounds);
        let is_recorded = is_last || round % plan.every == 0;
        let stopped = if is_recorded { recorder.record(&view, &failure)? } else { None };
        if is_last || stopped.is_some() {
            return recorder.result(&view, stopped);
        }
        py.detach(|| engine.run_until(round + 1)).map_err(|error| failure.or(&error))?;
    }
}
