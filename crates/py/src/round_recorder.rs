//! What Python gets to know of a run in its recorded rounds.

use std::ops::ControlFlow;

use fabnet_core::observe::DivergenceGuard;
use fabnet_core::{Stop, View};
use fabnet_lab::RunMetrics;
use pyo3::exceptions::PyFloatingPointError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::agent_solutions::points;
use crate::first_exception::FirstException;

/// Measures a run and hands the values to a function of Python, which may end the run.
pub(crate) struct RoundRecorder<'py> {
    /// Called with the round, the bytes that an agent has sent, the metrics in order, and the
    /// solutions of all agents or None; returns the reason for which the run is to end, or None.
    function: Bound<'py, PyAny>,
    /// Whether the function gets the solutions of all agents.
    with_points: bool,
    metrics: RunMetrics<f64>,
    patience: DivergenceGuard,
}

impl<'py> RoundRecorder<'py> {
    /// Measures these metrics of a run that starts as seen here.
    pub(crate) fn new(
        function: Bound<'py, PyAny>,
        with_points: bool,
        metrics: &[String],
        start: &View<'_, f64>,
    ) -> Self {
        Self { function, with_points, metrics: RunMetrics::new(metrics, start), patience: DivergenceGuard::default() }
    }

    /// Records a round. Returns the reason for which the run ends here, if there is one: it does
    /// not end while it is beyond a limit of divergence, as in experiments.
    pub(crate) fn record(&mut self, view: &View<'_, f64>, failure: &FirstException) -> PyResult<Option<String>> {
        let (values, diverged) = self.metrics.measure(view);
        failure.raise()?;
        if let ControlFlow::Break(stop) = self.patience.judge(view, diverged) {
            refuse_diverged(stop)?;
        }
        let points = self.with_points.then(|| self.solutions(view)).transpose()?;
        let reason = self.function.call1((view.round, view.bytes_per_agent(), values, points))?;
        Ok(reason.extract::<Option<String>>()?.filter(|_| !diverged))
    }

    /// The result of a run that ends here: the solutions of all agents, the number of rounds, and
    /// the reason if it ends before its last round.
    pub(crate) fn result(&self, view: &View<'_, f64>, stopped: Option<String>) -> PyResult<Bound<'py, PyDict>> {
        refuse_diverged(self.patience.last(view))?;
        let result = self.solutions(view)?;
        result.set_item("rounds", view.round)?;
        result.set_item("stopped", stopped)?;
        Ok(result)
    }

    fn solutions(&self, view: &View<'_, f64>) -> PyResult<Bound<'py, PyDict>> {
        let found = view.agents.range().map(|agent| view.point(agent));
        points(self.function.py(), view.algorithm, view.problem.dim(), found)
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
