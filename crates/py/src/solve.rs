//! Runs in which some parts are objects of Python.

use std::ops::ControlFlow;
use std::path::Path;

use fabnet_core::observe::DivergenceGuard;
use fabnet_core::{Algorithm, Dim, Divergence, Level, Optimum, Point, ProblemExt, QueryBatch, Stop, View};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyFloatingPointError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::experiment::plan;
use crate::first_exception::FirstException;
use crate::python_parts::PythonParts;

/// The records of a run, column by column.
#[derive(Default)]
struct RecordColumns {
    round: Vec<u64>,
    consensus: Vec<f64>,
    upper: Vec<f64>,
    bytes_per_agent: Vec<f64>,
    /// Empty if the solution of the problem is not known.
    relative_error: Vec<f64>,
}

impl RecordColumns {
    /// Adds a row for the present round.
    fn note(&mut self, view: &View<'_, f64>, mean: &[f64], optimum: Option<&Optimum<f64>>) {
        self.round.push(view.round);
        self.consensus.push(view.consensus(mean));
        self.upper.push(mean_value(view, mean));
        self.bytes_per_agent.push(view.bytes_per_agent());
        self.relative_error.extend(optimum.map(|optimum| view.relative_error_of(mean, optimum)));
    }

    fn columns(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("round", PyArray1::from_vec(py, self.round))?;
        for (name, column) in [
            ("consensus", self.consensus),
            ("upper", self.upper),
            ("bytes_per_agent", self.bytes_per_agent),
            ("relative_error", self.relative_error),
        ] {
            if !column.is_empty() {
                columns.set_item(name, PyArray1::from_vec(py, column))?;
            }
        }
        Ok(columns)
    }
}

/// The mean of f over all agents at one point, each with its own private coordinates.
fn mean_value(view: &View<'_, f64>, mean: &[f64]) -> f64 {
    let (x, y) = view.algorithm.direction().solution(view.problem.dim(), mean);
    let (agents, round) = (view.agents.range(), view.round);
    let own: Vec<_> = agents.clone().map(|agent| view.point(agent)[mean.len()..].to_vec()).collect();
    let point = |agent: usize| Point { agent, round, own: &own[agent], x, y };
    let sum: f64 = match view.problem.capabilities().batched {
        Some(batched) => {
            let mut sheet = QueryBatch::new(view.problem.dim(), agents.clone(), |agent| view.problem.private(agent));
            agents.clone().for_each(|agent| sheet.ask(point(agent)));
            batched.answer(Level::Upper, round, &mut [&mut sheet]);
            sheet.values().iter().sum()
        }
        None => agents.clone().map(|agent| view.problem.value(Level::Upper, point(agent))).sum(),
    };
    sum / agents.len() as f64
}

/// Carries out the only run of an experiment, in which the problem, the topology and the algorithm
/// may be objects of Python. `progress` is called with each recorded round.
#[pyfunction]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    text: &str,
    problem: Option<Bound<'py, PyAny>>,
    topology: Option<Bound<'py, PyAny>>,
    algorithm: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = plan(text, Path::new("solve"), &[])?;
    let (group, seed) = plan.only_run().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let failure = FirstException::default();
    let setup = PythonParts { problem, topology, algorithm }.setup(py, group, seed, &failure)?;
    let optimum = setup.problem.optimum();
    let mut engine = py.detach(|| setup.simulator()).map_err(|error| failure.or(&error))?;
    let mut records = RecordColumns::default();
    let (limits, mut patience) = (Divergence::new(optimum.clone(), &engine.view()), DivergenceGuard::default());
    loop {
        failure.raise()?;
        py.check_signals()?;
        let view = engine.view();
        let round = view.round;
        if round % plan.every == 0 || round == group.rounds {
            let mean = view.mean();
            records.note(&view, &mean, optimum.as_ref());
            failure.raise()?;
            if let ControlFlow::Break(stop) = patience.judge(&view, limits.is_seen(&view, &mean)) {
                refuse_diverged(stop)?;
            }
            if let Some(progress) = &progress {
                progress.call1((round,))?;
            }
        }
        if round == group.rounds {
            refuse_diverged(patience.last(&view))?;
            return answer(py, &view, records);
        }
        py.detach(|| engine.run_until(round + 1)).map_err(|error| failure.or(&error))?;
    }
}

/// Raises an exception for a run that has diverged, because it has no result.
fn refuse_diverged(stop: Stop) -> PyResult<()> {
    let Stop::Diverged { round, agent } = stop else { return Ok(()) };
    let message = format!(
        "the run has diverged by round {round}, agent {agent} the furthest: take smaller step sizes, or steps=\"auto\""
    );
    Err(PyFloatingPointError::new_err(message))
}

/// The result of a run: the solutions of all agents, the number of rounds and the records.
fn answer<'py>(py: Python<'py>, view: &View<'_, f64>, records: RecordColumns) -> PyResult<Bound<'py, PyDict>> {
    let answer = points(py, view.algorithm, view.problem.dim(), view.agents.range().map(|agent| view.point(agent)))?;
    answer.set_item("rounds", view.round)?;
    answer.set_item("records", records.columns(py)?)?;
    Ok(answer)
}

/// Splits points of agents into rows of x and y, and private coordinates.
pub(crate) fn points<'py>(
    py: Python<'py>,
    algorithm: &dyn Algorithm<f64>,
    dim: Dim,
    points: impl Iterator<Item = Vec<f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let width = algorithm.blocks().width();
    let (mut x, mut y, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for point in points {
        let (outer, inner) = algorithm.direction().solution(dim, &point[..width]);
        x.extend_from_slice(outer);
        y.extend_from_slice(inner);
        own.push(PyArray1::from_slice(py, &point[width..]));
    }
    let answer = PyDict::new(py);
    answer.set_item("x", PyArray1::from_vec(py, x).reshape([own.len(), dim.outer])?)?;
    answer.set_item("y", PyArray1::from_vec(py, y).reshape([own.len(), dim.inner])?)?;
    answer.set_item("own", own)?;
    Ok(answer)
}
