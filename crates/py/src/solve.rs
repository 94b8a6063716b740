//! Solving a problem that Python brings.

use std::path::Path;
use std::sync::Arc;

use fabnet_core::algorithm::Request;
use fabnet_core::{Level, Shard, View, linalg};
use fabnet_lab::Setup;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyFloatingPointError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::brought::Brought;
use crate::experiment::plan;

/// What is noted of a run, column by column.
#[derive(Default)]
struct Records {
    round: Vec<u64>,
    consensus: Vec<f64>,
    upper: Vec<f64>,
    bytes_per_agent: Vec<f64>,
}

impl Records {
    fn note(&mut self, view: &View<'_, f64>, problem: &Brought) {
        let mean = view.mean();
        let (x, y) = view.algorithm.direction().solution(view.problem.dim(), &mean);
        let own: Vec<Vec<f64>> = view.agents.range().map(|agent| view.point(agent)[mean.len()..].to_vec()).collect();
        self.round.push(view.round);
        self.consensus.push(spread(view, &mean));
        self.upper.push(problem.mean_value(Level::Upper, view.round, x, y, &own));
        self.bytes_per_agent.push(view.bytes_per_agent);
    }

    fn columns(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("round", PyArray1::from_vec(py, self.round))?;
        columns.set_item("consensus", PyArray1::from_vec(py, self.consensus))?;
        columns.set_item("upper", PyArray1::from_vec(py, self.upper))?;
        columns.set_item("bytes_per_agent", PyArray1::from_vec(py, self.bytes_per_agent))?;
        Ok(columns)
    }
}

/// How far agents are from their mean, root mean square, over all shared coordinates.
fn spread(view: &View<'_, f64>, mean: &[f64]) -> f64 {
    let away = |agent| linalg::distance_squared(&view.point(agent)[..mean.len()], mean);
    let agents = view.agents.range();
    (agents.clone().map(away).sum::<f64>() / agents.len() as f64).sqrt()
}

/// Carries out the only run of an experiment whose problem is this object. `progress` is called with each round that was noted.
#[pyfunction]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    problem: &Bound<'py, PyAny>,
    text: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = plan(text, Path::new("solve"), &[])?;
    let (group, seed) = plan.runs().next().ok_or_else(|| PyValueError::new_err("there is nothing to run"))?;
    let brought = Arc::new(Brought::new(problem, group.agents)?);
    let failed =
        |error: &dyn std::fmt::Display| brought.failure().unwrap_or_else(|| PyRuntimeError::new_err(error.to_string()));
    let setup =
        Setup::<f64>::of(group, seed, brought.clone()).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut shard = py.detach(|| setup.shard()).map_err(|error| failed(&error))?;
    let mut records = Records::default();
    loop {
        raise(&brought)?;
        py.check_signals()?;
        let view = shard.view();
        if view.round % plan.every == 0 || view.round == group.rounds {
            records.note(&view, &brought);
            raise(&brought)?;
            still_there(&view)?;
            if let Some(progress) = &progress {
                progress.call1((view.round,))?;
            }
        }
        if view.round == group.rounds {
            break;
        }
        py.detach(|| round(&mut shard)).map_err(|error| failed(&error))?;
    }
    answer(py, &shard.view(), records)
}

/// Agents that have run away are no result.
fn still_there(view: &View<'_, f64>) -> PyResult<()> {
    let lost = view.agents.range().find(|&agent| !view.point(agent).iter().all(|number| number.is_finite()));
    lost.map_or(Ok(()), |agent| {
        let message =
            format!("agent {agent} has run away by round {}: take smaller steps, or steps=\"auto\"", view.round);
        Err(PyFloatingPointError::new_err(message))
    })
}

fn raise(problem: &Brought) -> PyResult<()> {
    problem.failure().map_or(Ok(()), Err)
}

fn round(shard: &mut Shard<f64>) -> Result<(), fabnet_core::ShardError> {
    if shard.round()? == Request::Restart {
        shard.restart();
    }
    Ok(())
}

/// What everybody has found.
fn answer<'py>(py: Python<'py>, view: &View<'_, f64>, records: Records) -> PyResult<Bound<'py, PyDict>> {
    let (agents, dim, width) = (view.agents.range().len(), view.problem.dim(), view.algorithm.blocks().width());
    let (mut x, mut y, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for agent in view.agents.range() {
        let point = view.point(agent);
        let (outer, inner) = view.algorithm.direction().solution(dim, &point[..width]);
        x.extend_from_slice(outer);
        y.extend_from_slice(inner);
        own.push(PyArray1::from_slice(py, &point[width..]));
    }
    let answer = PyDict::new(py);
    answer.set_item("x", PyArray1::from_vec(py, x).reshape([agents, dim.outer])?)?;
    answer.set_item("y", PyArray1::from_vec(py, y).reshape([agents, dim.inner])?)?;
    answer.set_item("own", own)?;
    answer.set_item("rounds", view.round)?;
    answer.set_item("records", records.columns(py)?)?;
    Ok(answer)
}
