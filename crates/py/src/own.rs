//! What Python brings, in place of what a plan names.

use std::sync::Arc;

use fabnet_lab::{Brings, BringsAlgorithm, Group, Precision, Setup};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::algorithm::OwnAlgorithm;
use crate::failure::Failure;
use crate::problem::OwnProblem;
use crate::topology::OwnTopology;

/// Objects of Python, where they are given.
pub(crate) struct Own<'py> {
    pub(crate) problem: Option<Bound<'py, PyAny>>,
    pub(crate) topology: Option<Bound<'py, PyAny>>,
    pub(crate) algorithm: Option<Bound<'py, PyAny>>,
}

impl Own<'_> {
    /// Sets up a run with them.
    pub(crate) fn setup(self, py: Python<'_>, group: &Group, seed: u64, failure: &Failure) -> PyResult<Setup<f64>> {
        if group.precision != Precision::F64 {
            return Err(PyValueError::new_err("Python computes with f64: leave out `precision`"));
        }
        if self.problem.is_some() && group.problem.kind != "brought" {
            let message =
                format!("the experiment names the problem `{}`: write kind = \"brought\"", group.problem.kind);
            return Err(PyValueError::new_err(message));
        }
        let problem = self.problem.map(|object| OwnProblem::new(&object, group.agents, failure.clone())).transpose()?;
        let topology = self.topology.map(|function| OwnTopology::new(&function, group.agents, failure.clone()));
        let algorithm = self.algorithm.map(|object| -> BringsAlgorithm<f64> {
            let (object, failure) = (object.unbind(), failure.clone());
            Box::new(move |problem| {
                let made = Python::attach(|py| OwnAlgorithm::new(object.bind(py), problem.dim(), failure.clone()));
                Ok(Arc::new(failure.catch(made).ok_or("the algorithm does not fit")?))
            })
        });
        let brings = Brings {
            problem: problem.map(|problem| Arc::new(problem) as _),
            topology: topology.map(|topology| Arc::new(topology) as _),
            algorithm,
        };
        // Other threads may draw graphs that are Python's.
        py.detach(|| Setup::of(group, seed, brings)).map_err(|error| failure.or(&error))
    }
}
