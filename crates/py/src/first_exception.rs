//! Exceptions of Python on their way through the engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The first exception of a run. The engine has no way to return it, so it is kept here until the
/// caller of the engine raises it. Until then, no function of Python is called.
#[derive(Clone, Default)]
pub(crate) struct FirstException(Arc<Mutex<Option<PyErr>>>);

impl FirstException {
    /// Returns the result, or keeps its exception if it is the first one.
    pub(crate) fn catch<R>(&self, result: PyResult<R>) -> Option<R> {
        result
            .map_err(|error| {
                self.get().get_or_insert(error);
            })
            .ok()
    }

    /// Whether an exception is kept.
    pub(crate) fn is_there(&self) -> bool {
        self.get().is_some()
    }

    /// Takes the exception; if there is none, makes one from another error.
    pub(crate) fn or(&self, error: &dyn std::fmt::Display) -> PyErr {
        self.get().take().unwrap_or_else(|| PyValueError::new_err(error.to_string()))
    }

    /// Raises the exception, if there is one.
    pub(crate) fn raise(&self) -> PyResult<()> {
        self.get().take().map_or(Ok(()), Err)
    }

    fn get(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
