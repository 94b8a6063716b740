//! The part of the Python package that is written in Rust: experiments as the command runs them, and problems, algorithms and topologies that Python brings.

mod algorithm;
mod experiment;
mod failure;
#[cfg(feature = "net")]
mod node;
mod numbers;
mod own;
mod problem;
mod solve;
mod topology;

use pyo3::prelude::*;

/// Functions for the package `fabnet`, which is what people use.
#[pymodule]
fn _fabnet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(experiment::run, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::check, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::listing, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(algorithm::gradients, module)?)?;
    #[cfg(feature = "net")]
    {
        module.add_function(wrap_pyfunction!(node::node, module)?)?;
        module.add_function(wrap_pyfunction!(node::certificates, module)?)?;
    }
    Ok(())
}
