//! The compiled module of the Python package: experiments with the same results as the command, and
//! runs of problems, algorithms and topologies that are written in Python.

mod agent_gradients;
mod agent_solutions;
mod algorithm;
mod experiment;
mod first_exception;
mod level_function;
mod named_segment;
#[cfg(feature = "net")]
mod node;
mod numbers;
mod problem;
mod python_parts;
mod reusable_array;
mod round_recorder;
mod solve;
mod topology;

use pyo3::prelude::*;

/// The functions that the package `fabnet` is built on; they are not public themselves.
#[pymodule]
fn _fabnet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(experiment::run, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::check, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::watch_page, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::listing, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(agent_gradients::gradients, module)?)?;
    #[cfg(feature = "net")]
    {
        module.add_function(wrap_pyfunction!(node::node, module)?)?;
        module.add_function(wrap_pyfunction!(node::certificates, module)?)?;
    }
    Ok(())
}
