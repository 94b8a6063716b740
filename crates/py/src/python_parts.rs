//! Objects of Python that replace parts of an experiment.

use std::sync::Arc;

use fabnet_lab::{CustomAlgorithm, CustomParts, Group, Precision, Setup};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::algorithm::PythonAlgorithm;
use crate::first_exception::FirstException;
use crate::problem::PythonProblem;
use crate::topology::PythonTopology;

/// The parts of an experiment that are objects of Python, where they are given.
pub(crate) struct PythonParts<'py> {
    pub(crate) problem: Option<Bound<'py, PyAny>>,
    pub(crate) topology: Option<Bound<'py, PyAny>>,
    pub(crate) algorithm: Option<Bound<'py, PyAny>>,
}

impl PythonParts<'_> {
    /// Sets up a run in which these parts replace those that the plan names.
    pub(crate) fn setup(
        self,
        py: Python<'_>,
        group: &Group,
        seed: u64,
        failure: &FirstException,
    ) -> PyResult<Setup<f64>> {
        if group.precision != Precision::F64 {
            return Err(PyValueError::new_err("Python computes with f64: leave out `precision`"));
        }
        if self.problem.is_some() && group.problem.kind != "brought" {
            let message =
                format!("the experiment names the problem `{}`: write kind = \"brought\"", group.problem.kind);
            return Err(PyValueError::new_err(message));
        }
        let problem =
            self.problem.map(|object| PythonProblem::new(&object, group.agents, failure.clone())).transpose()?;
        let topology = self.topology.map(|function| PythonTopology::new(&function, group.agents, failure.clone()));
        let algorithm = self.algorithm.map(|object| -> CustomAlgorithm<f64> {
            let (object, failure) = (object.unbind(), failure.clone());
            Box::new(move |problem| {
                let made = Python::attach(|py| PythonAlgorithm::new(object.bind(py), problem.dim(), failure.clone()));
                Ok(Arc::new(failure.catch(made).ok_or("the algorithm does not fit")?))
            })
        });
        let parts = CustomParts {
            problem: problem.map(|problem| Arc::new(problem) as _),
            topology: topology.map(|topology| Arc::new(topology) as _),
            algorithm,
        };
        // Without the GIL, because other threads may call the topology, which is a function of
        // Python.
        py.detach(|| Setup::of(group, seed, parts)).map_err(|error| failure.or(&error))
    }
}
