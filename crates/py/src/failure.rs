//! What goes wrong in Python.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// Takes it out.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.get().take()
    }

    /// Raises it, if it is there.
    pub(crate) fn raise(&self) -> PyResult<()> {
        self.take().map_or(Ok(()), Err)
    }

    fn get(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
