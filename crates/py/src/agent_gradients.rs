//! Gradients for the functions of an algorithm of Python, while one of them runs.

use fabnet_core::{Dim, GradientMut, Level, Oracle, ProblemExt};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use scoped_tls_hkt::scoped_thread_local;

use crate::numbers::array;

/// The gradients of one agent. [`Oracle`] implements it; the trait exists because a thread-local
/// cannot name the lifetime of an oracle.
pub(crate) trait AgentGradients {
    /// The numbers of outer coordinates, shared and private together, and of inner ones.
    fn sizes(&self) -> [usize; 2];

    /// The gradients of a level at a point, in x with private coordinates last, and in y.
    fn gradients(&mut self, level: Level, outer: &[f64], y: &[f64]) -> [Vec<f64>; 2];
}

impl AgentGradients for Oracle<'_, f64> {
    fn sizes(&self) -> [usize; 2] {
        let Dim { outer, inner } = self.problem.dim();
        [outer + self.problem.private(self.agent), inner]
    }

    fn gradients(&mut self, level: Level, outer: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
        let shared = self.problem.dim().outer;
        let (mut by_outer, mut by_y) = (vec![0.0; outer.len()], vec![0.0; y.len()]);
        let (x, own) = outer.split_at(shared);
        let (by_x, by_own) = by_outer.split_at_mut(shared);
        self.add_gradient(level, own, x, y, GradientMut { scale: (1.0, 1.0), own: by_own, x: by_x, y: &mut by_y });
        [by_outer, by_y]
    }
}

// Objects of Python cannot hold a borrowed oracle, so it is lent here for the time of a call.
scoped_thread_local!(pub(crate) static mut ORACLE: for<'a> &'a mut (dyn AgentGradients + 'a));

/// The gradients of f or g of the agent whose function is running: in x, private coordinates last,
/// and in y.
#[pyfunction]
pub(crate) fn gradients<'py>(
    py: Python<'py>,
    upper: bool,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
    if !ORACLE.is_set() {
        return Err(PyRuntimeError::new_err("an agent's functions can be asked within `begin` and `step` only"));
    }
    let (level, name) = if upper { (Level::Upper, "upper") } else { (Level::Lower, "lower") };
    ORACLE.with(|oracle| {
        let [outer, inner] = oracle.sizes();
        let x = array(x, &[outer], &|| format!("x of {name}(x, y)"))?;
        let y = array(y, &[inner], &|| format!("y of {name}(x, y)"))?;
        Ok(oracle.gradients(level, x.as_slice()?, y.as_slice()?).map(|slope| PyArray1::from_vec(py, slope)))
    })
}
