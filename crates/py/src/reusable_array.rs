//! Arrays that calls of Python share.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray2;
use pyo3::prelude::*;

/// An array that is lent to Python again and again, unless Python has kept it. New memory would
/// have to be mapped first, which takes longer than filling it.
#[derive(Default)]
pub(crate) struct ReusableArray(Mutex<Option<LentArray>>);

struct LentArray {
    array: Py<PyArray2<f64>>,
    /// The reference count of the array when Python has not kept it.
    alone: usize,
}

impl ReusableArray {
    /// An array of this shape, whose contents are unspecified.
    pub(crate) fn array<'py>(&self, py: Python<'py>, shape: [usize; 2]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let references = |array: &Py<PyArray2<f64>>| -> PyResult<usize> {
            py.import("sys")?.call_method1("getrefcount", (array,))?.extract()
        };
        let mut lent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(LentArray { array, alone }) = &*lent
            && references(array)? == *alone
        {
            return Ok(array.bind(py).clone());
        }
        let array = PyArray2::zeros(py, shape, false).unbind();
        let LentArray { array, .. } = lent.insert(LentArray { alone: references(&array)?, array });
        Ok(array.bind(py).clone())
    }
}
