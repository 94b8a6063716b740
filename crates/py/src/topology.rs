//! A topology that is a function of Python.

use fabnet_core::{Digraph, Topology};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::first_exception::FirstException;

/// A topology given by a function from a round to its links, as pairs (from, to) of agents.
pub(crate) struct PythonTopology {
    function: Py<PyAny>,
    agents: usize,
    failure: FirstException,
}

impl PythonTopology {
    pub(crate) fn new(function: &Bound<'_, PyAny>, agents: usize, failure: FirstException) -> Self {
        Self { function: function.clone().unbind(), agents, failure }
    }

    /// Calls the function and checks its links.
    fn links(&self, round: u64) -> PyResult<Vec<(usize, usize)>> {
        Python::attach(|py| {
            let found = self.function.bind(py).call1((round,))?;
            let wrong = |what: &str| {
                let message = format!("the links of round {round} {what}: return pairs (from, to) of agents");
                PyValueError::new_err(message)
            };
            let list = py.import("numpy")?.call_method1("asarray", (found,))?;
            if list.getattr("size")?.extract::<usize>()? == 0 {
                return Ok(Vec::new());
            }
            let pairs: PyReadonlyArray2<'_, i64> = list
                .call_method1("astype", ("int64", "C", "safe"))
                .and_then(|list| list.extract())
                .map_err(|_| wrong("are no table of whole numbers"))?;
            if pairs.shape()[1] != 2 {
                return Err(wrong(&format!("have {} columns", pairs.shape()[1])));
            }
            let agent = |number: i64| usize::try_from(number).ok().filter(|&agent| agent < self.agents);
            let link = |pair: &[i64; 2]| {
                let [from, to] = *pair;
                let known = agent(from).zip(agent(to));
                known.ok_or_else(|| wrong(&format!("go from {from} to {to}, but there are {} agents", self.agents)))
            };
            pairs.as_slice()?.as_chunks().0.iter().map(link).collect()
        })
    }
}

impl Topology for PythonTopology {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        round
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        let links = if self.failure.is_there() { Ok(Vec::new()) } else { self.links(name) };
        graph.set_links(&mut self.failure.catch(links).unwrap_or_default());
    }

    fn period(&self) -> Option<u64> {
        None
    }
}
