//! Arrays of numbers that functions of Python return.

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// Converts to a contiguous array of `f64` and checks its shape. `place` names the array in
/// messages.
pub(crate) fn array<'py>(
    found: &Bound<'py, PyAny>,
    shape: &[usize],
    place: &dyn Fn() -> String,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let array = match found.extract::<PyReadonlyArrayDyn<'py, f64>>() {
        Ok(array) if array.is_c_contiguous() => array,
        _ => convert(found, place)?,
    };
    // Conversion makes an array of shape (1,) of a single number.
    if array.shape() != shape && !(array.len() == 1 && shape.iter().product::<usize>() == 1) {
        let (found, shape) = (PyTuple::new(found.py(), array.shape())?, PyTuple::new(found.py(), shape)?);
        return Err(PyValueError::new_err(format!("{} has the shape {found}, but needs {shape}", place())));
    }
    Ok(array)
}

/// Converts any array of real numbers, or a single one, to a contiguous array of `f64`.
fn convert<'py>(found: &Bound<'py, PyAny>, place: &dyn Fn() -> String) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let convert = CONVERT.import(found.py(), "numpy", "ascontiguousarray")?;
    let plain = convert.call1((found,))?;
    let dtype = plain.getattr("dtype")?;
    if !["f", "i", "u", "b"].contains(&&*dtype.getattr("kind")?.extract::<String>()?) {
        return Err(PyTypeError::new_err(format!("{} is of dtype {dtype}: it needs real numbers", place())));
    }
    convert.call1((plain, "float64"))?.extract()
}

/// Does the same as [`array`], and checks that all numbers are finite.
pub(crate) fn finite<'py>(
    found: &Bound<'py, PyAny>,
    shape: &[usize],
    place: &dyn Fn() -> String,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let array = array(found, shape, place)?;
    if let Some(bad) = array.as_slice()?.iter().position(|number| !number.is_finite()) {
        let number = array.as_slice()?[bad];
        let row = if shape.len() > 1 { format!(" (agent {})", bad / shape[1]) } else { String::new() };
        return Err(PyValueError::new_err(format!("{} holds {number}{row}", place())));
    }
    Ok(array)
}

/// Does the same as [`finite`], and copies the numbers into a vector.
pub(crate) fn numbers(found: &Bound<'_, PyAny>, shape: &[usize], place: &dyn Fn() -> String) -> PyResult<Vec<f64>> {
    Ok(finite(found, shape, place)?.as_slice()?.to_vec())
}
