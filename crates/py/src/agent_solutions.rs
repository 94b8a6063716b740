//! The solutions of agents as arrays.

use fabnet_core::{Algorithm, Dim};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
