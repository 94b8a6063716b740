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
    /// Checks that the plan leaves these parts to Python.
    fn check(&self, group: &Group) -> PyResult<()> {
        if group.precision != Precision::F64 {
            return Err(PyValueError::new_err("Python computes with f64: leave out `precision`"));
        }
        let kind = &group.problem.kind;
        if self.problem.is_some() && kind != "brought" {
            let message = format!("the experiment names the problem `{kind}`: write kind = \"brought\"");
            return Err(PyValueError::new_err(message));
        }
        Ok(())
    }

    /// Sets up a run in which these parts replace those that the plan names.
    pub(crate) fn setup(
        self,
        py: Python<'_>,
        group: &Group,
        seed: u64,
        failure: &FirstException,
    ) -> PyResult<Setup<f64>> {
        self.check(group)?;
        let problem =
            self.problem.map(|object| PythonProblem::new(&object, group.agents, failure.clone())).transpose()?;
        let topology = self.topology.map(|function| PythonTopology::new(&function, group.agents, failure.clone()));
        let parts = CustomParts {
            problem: problem.map(|problem| Arc::new(problem) as _),
            topology: topology.map(|topology| Arc::new(topology) as _),
            algorithm: self.algorithm.map(|object| algorithm(object, failure.clone())),
        };
        // Without the GIL, because other threads may call the topology, which is a function of
        // Python.
        py.detach(|| Setup::of(group, seed, parts)).map_err(|error| failure.or(&error))
    }
}

/// An algorithm of Python, which is made once the size of the problem is known.
fn algorithm(object: Bound<'_, PyAny>, failure: FirstException) -> CustomAlgorithm<f64> {
    let object = object.unbind();
    Box::new(move |problem| {
        let made = Python::attach(|py| PythonAlgorithm::new(object.bind(py), problem.dim(), failure.clone()));
        Ok(Arc::new(failure.catch(made).ok_or("the algorithm does not fit")?))
    })
}
