//! The functions of a problem of Python.

use fabnet_core::Level;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

/// The function of a problem of Python that evaluates one level.
#[derive(Clone, Debug)]
pub(crate) struct LevelFunction {
    /// The name of the function, such as `upper` or `upper_all`.
    name: String,
    /// Whether it evaluates all agents in one call.
    pub(crate) for_all: bool,
    /// Whether it has a parameter `round`; then the problem may differ from round to round.
    pub(crate) takes_round: bool,
}

impl LevelFunction {
    /// Finds the function of a level; one for all agents goes before one for a single agent.
    pub(crate) fn find(object: &Bound<'_, PyAny>, level: Level) -> PyResult<Self> {
        let (one, all) = (name(level), format!("{}_all", name(level)));
        let callable = |name: &str| object.getattr(name).ok().filter(PyAnyMethods::is_callable);
        let (name, for_all, found) = if let Some(found) = callable(&all) {
            (all, true, found)
        } else if let Some(found) = callable(one) {
            (one.to_owned(), false, found)
        } else {
            return Err(PyTypeError::new_err(format!(
                "a problem needs `{one}(agent, x, y)`, or `{all}(X, Y)` for all agents at once"
            )));
        };
        // Functions that are not written in Python may have no signature.
        let signature = object.py().import("inspect")?.call_method1("signature", (found,));
        let parameters = signature.and_then(|signature| signature.getattr("parameters"));
        let takes_round = parameters.is_ok_and(|parameters| parameters.contains("round").unwrap_or(false));
        Ok(Self { name, for_all, takes_round })
    }

    /// Calls the function, with the round if it has a parameter for it.
    pub(crate) fn call<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        arguments: impl PyCallArgs<'py>,
        round: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let named = self.takes_round.then(|| [("round", round)].into_py_dict(object.py())).transpose()?;
        object.getattr(&*self.name)?.call(arguments, named.as_ref())
    }
}

/// The name of a level in messages, and of its function for one agent.
pub(crate) fn name(level: Level) -> &'static str {
    match level {
        Level::Upper => "upper",
        Level::Lower => "lower",
    }
}

/// What a function of a level returns: a value and its gradients in x and y.
pub(crate) type ValueAndGradients<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Splits the result of a function; `place` names the result in messages.
pub(crate) fn value_and_gradients<'py>(
    found: &Bound<'py, PyAny>,
    place: &dyn Fn() -> String,
) -> PyResult<ValueAndGradients<'py>> {
    let tuple = found.cast::<PyTuple>().ok().filter(|tuple| tuple.len() == 3);
    let tuple = tuple.ok_or_else(|| {
        let kind = found.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "{} is a {kind}: return a value, its gradient in x and its gradient in y",
            place()
        ))
    })?;
    tuple.extract()
}
