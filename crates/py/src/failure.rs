//! What goes wrong in Python.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The first exception of a run. It cannot be returned through the engine, so it is kept here until somebody looks; nothing more is asked of Python meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Keeps what went wrong, if something did.
    pub(crate) fn catch<R>(&self, result: PyResult<R>) -> Option<R> {
        result
            .map_err(|error| {
                self.get().get_or_insert(error);
            })
            .ok()
    }

    pub(crate) fn is_there(&self) -> bool {
        self.get().is_some()
    }

    /// It, or if there is none, another error.
    pub(crate) fn or(&self, error: &dyn std::fmt::Display) -> PyErr {
        self.get().take().unwrap_or_else(|| PyValueError::new_err(error.to_string()))
    }

    /// Raises it, if it is there.
    pub(crate) fn raise(&self) -> PyResult<()> {
        self.get().take().map_or(Ok(()), Err)
    }

    fn get(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
