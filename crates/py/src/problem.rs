//! A problem whose functions are Python's.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fabnet_core::{Dim, Level, Point, Problem, Scratch, Sheet, Slopes, Together};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

use crate::failure::Failure;
use crate::numbers::{array, finite, numbers};

/// An object with `outer`, `inner` and the functions of both levels.
pub(crate) struct OwnProblem {
    object: Py<PyAny>,
    agents: usize,
    dim: Dim,
    private: Vec<usize>,
    starts: Vec<(Vec<f64>, Vec<f64>)>,
    functions: [Function; 2],
    failure: Failure,
    desks: [Desk; 2],
}

/// How a level is evaluated.
#[derive(Clone, Debug)]
struct Function {
    /// `upper` or `upper_all`.
    name: String,
    /// Whether for all agents at once.
    for_all: bool,
    /// Whether it wants to know the round: it then shows something else in every round.
    takes_round: bool,
}

impl Function {
    fn find(object: &Bound<'_, PyAny>, level: Level) -> PyResult<Self> {
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
        // Functions that are not Python's have no signature.
        let signature = object.py().import("inspect")?.call_method1("signature", (found,));
        let parameters = signature.and_then(|signature| signature.getattr("parameters"));
        let takes_round = parameters.is_ok_and(|parameters| parameters.contains("round").unwrap_or(false));
        Ok(Self { name, for_all, takes_round })
    }

    fn call<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        arguments: impl PyCallArgs<'py>,
        round: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let named = self.takes_round.then(|| [("round", round)].into_py_dict(object.py())).transpose()?;
        object.getattr(&*self.name)?.call(arguments, named.as_ref())
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Upper => "upper",
        Level::Lower => "lower",
    }
}

impl OwnProblem {
    /// Looks at an object that a user brings.
    pub(crate) fn new(object: &Bound<'_, PyAny>, agents: usize, failure: Failure) -> PyResult<Self> {
        let size = |name: &str| -> PyResult<usize> {
            let value = object.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!("a problem needs `{name}`: how many coordinates that variable has"))
            })?;
            let wrong = |_| PyTypeError::new_err(format!("`{name}` is a whole number of coordinates, not {value}"));
            value.extract().map_err(wrong)
        };
        let dim = Dim { outer: size("outer")?, inner: size("inner")? };
        let has = |name: &str| match object.getattr(name) {
            Ok(found) if !found.is_callable() => {
                Err(PyTypeError::new_err(format!("`{name}` of a problem is a function of the agent, not {found}")))
            }
            found => Ok(found.is_ok()),
        };
        let functions = [Function::find(object, Level::Upper)?, Function::find(object, Level::Lower)?];
        let private: Vec<usize> = if has("private")? {
            (0..agents).map(|agent| object.call_method1("private", (agent,))?.extract()).collect::<PyResult<_>>()?
        } else {
            vec![0; agents]
        };
        if private.iter().any(|&own| own > 0) && functions.iter().any(|function| function.for_all) {
            return Err(PyTypeError::new_err(
                "agents with private coordinates differ in size: bring upper(agent, x, y) and lower(agent, x, y)",
            ));
        }
        let mut brought = Self {
            object: object.clone().unbind(),
            agents,
            dim,
            private,
            starts: Vec::new(),
            functions,
            failure,
            desks: Default::default(),
        };
        if has("start")? {
            brought.starts = (0..agents).map(|agent| brought.ask_start(object, agent)).collect::<PyResult<_>>()?;
        }
        Ok(brought)
    }

    /// What one agent asks alone.
    fn alone(&self, level: Level, at: Point<'_, f64>) -> Sheet<f64> {
        let mut sheet = Sheet::new(self, at.agent..at.agent + 1);
        sheet.ask(at);
        self.answer(level, at.round, &mut [&mut sheet]);
        sheet
    }

    fn ask_start(&self, object: &Bound<'_, PyAny>, agent: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let found = object.call_method1("start", (agent,))?;
        let (x, y): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            found.extract().map_err(|_| PyTypeError::new_err("start(agent) returns x and y"))?;
        let outer = self.dim.outer + self.private[agent];
        Ok((
            numbers(&x, &[outer], &|| format!("x of start({agent})"))?,
            numbers(&y, &[self.dim.inner], &|| format!("y of start({agent})"))?,
        ))
    }

    fn ask_one(&self, object: &Bound<'_, PyAny>, level: Level, at: Point<'_, f64>) -> PyResult<(f64, [Vec<f64>; 2])> {
        let (py, agent, round) = (object.py(), at.agent, at.round);
        let outer: Vec<f64> = at.x.iter().chain(at.own).copied().collect();
        let (x, y) = (PyArray1::from_vec(py, outer), PyArray1::from_slice(py, at.y));
        let found = self.functions[level as usize].call(object, (agent, &x, &y), round)?;
        let place = |part: &str| format!("{part} of {}({agent}, x, y) in round {round}", name(level));
        let (value, by_x, by_y) = three(&found, &|| place("the result"))?;
        let outer = self.dim.outer + self.private[agent];
        let by_x = if outer == 0 { Vec::new() } else { numbers(&by_x, &[outer], &|| place("the gradient in x"))? };
        let by_y = numbers(&by_y, &[self.dim.inner], &|| place("the gradient in y"))?;
        let wrong = |_| PyTypeError::new_err(format!("{} is no number: {value}", place("the value")));
        Ok((value.extract().map_err(wrong)?, [by_x, by_y]))
    }

    /// One after the other. What has run away is not asked for: it may be a rehearsal that went astray, and if it is not, whoever looks at the agents sees it.
    fn ask_each(&self, object: &Bound<'_, PyAny>, level: Level, round: u64, sheet: &mut Sheet<f64>) -> PyResult<()> {
        for agent in sheet.agents().filter(|&agent| sheet.is_open(agent)).collect::<Vec<_>>() {
            let at = sheet.point(agent, round);
            if ![at.own, at.x, at.y].into_iter().flatten().all(|number| number.is_finite()) {
                sheet.refuse(agent);
                continue;
            }
            let (found, [outer, inner]) = self.ask_one(object, level, at)?;
            let (value, [by_own, by_x, by_y]) = sheet.answer(agent);
            *value = found;
            by_x.copy_from_slice(&outer[..self.dim.outer]);
            by_own.copy_from_slice(&outer[self.dim.outer..]);
            by_y.copy_from_slice(&inner);
        }
        Ok(())
    }

    /// All at once. Who asks nothing, or has run away, is at zero.
    fn ask_all(
        &self,
        object: &Bound<'_, PyAny>,
        level: Level,
        round: u64,
        sheets: &mut [&mut Sheet<f64>],
    ) -> PyResult<()> {
        let (py, Dim { outer, inner }, agents) = (object.py(), self.dim, self.agents);
        let arrays = [self.desks[0].array(py, [agents, outer])?, self.desks[1].array(py, [agents, inner])?];
        let mut lost = Vec::new();
        for (part, (array, width)) in arrays.iter().zip([outer, inner]).enumerate() {
            let mut array = array.readwrite();
            let rows = array.as_slice_mut()?;
            if sheets.iter().map(|sheet| sheet.agents().len()).sum::<usize>() < agents {
                rows.fill(0.0);
            }
            for sheet in &*sheets {
                let place = sheet.agents().start * width..sheet.agents().end * width;
                rows[place].copy_from_slice(sheet.points()[part]);
            }
            for (agent, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
                if !row.iter().all(|number| number.is_finite()) {
                    row.fill(0.0);
                    lost.push(agent);
                }
            }
        }
        let [x, y] = &arrays;
        let found = self.functions[level as usize].call(object, (x, y), round)?;
        let place = |part: &str| format!("{part} of {}_all(X, Y) in round {round}", name(level));
        let (value, by_x, by_y) = three(&found, &|| place("the result"))?;
        let by_x = (outer > 0).then(|| finite(&by_x, &[agents, outer], &|| place("the gradient in X"))).transpose()?;
        let by_y = finite(&by_y, &[agents, inner], &|| place("the gradient in Y"))?;
        let values = array(&value, &[agents], &|| place("the values"))?;
        let by_x = by_x.as_ref().map_or(Ok(&[][..]), |by_x| by_x.as_slice())?;
        let (values, by_y) = (values.as_slice()?, by_y.as_slice()?);
        for sheet in sheets {
            let Range { start, end } = sheet.agents();
            let rows = [&by_x[start * outer..end * outer], &by_y[start * inner..end * inner]];
            sheet.answer_all(&values[start..end], rows);
            for &agent in lost.iter().filter(|agent| (start..end).contains(agent)) {
                sheet.refuse(agent);
            }
        }
        Ok(())
    }
}

/// An array that is lent to Python, and used again if Python has not kept it: memory that is new has to be mapped first, which takes longer than to fill it.
#[derive(Default)]
struct Desk(Mutex<Option<Lent>>);

struct Lent {
    array: Py<PyArray2<f64>>,
    /// References to it when nobody else has it, as Python counts them.
    alone: usize,
}

impl Desk {
    fn array<'py>(&self, py: Python<'py>, shape: [usize; 2]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let references = |array: &Py<PyArray2<f64>>| -> PyResult<usize> {
            py.import("sys")?.call_method1("getrefcount", (array,))?.extract()
        };
        let mut lent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Lent { array, alone }) = &*lent
            && references(array)? == *alone
        {
            return Ok(array.bind(py).clone());
        }
        let array = PyArray2::zeros(py, shape, false).unbind();
        let Lent { array, .. } = lent.insert(Lent { alone: references(&array)?, array });
        Ok(array.bind(py).clone())
    }
}

/// A value and two gradients.
type Three<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn three<'py>(found: &Bound<'py, PyAny>, place: &dyn Fn() -> String) -> PyResult<Three<'py>> {
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

impl Problem<f64> for OwnProblem {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        self.dim
    }

    fn private(&self, agent: usize) -> usize {
        self.private[agent]
    }

    fn start(&self, agent: usize, own: &mut [f64], x: &mut [f64], y: &mut [f64]) {
        if let Some((outer, inner)) = self.starts.get(agent) {
            x.copy_from_slice(&outer[..x.len()]);
            own.copy_from_slice(&outer[x.len()..]);
            y.copy_from_slice(inner);
        }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: Slopes<'_, f64>, _scratch: &mut Scratch<f64>) {
        self.alone(level, at).add_to(at.agent, to);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.alone(level, at).values()[0]
    }

    fn noisy(&self) -> bool {
        self.functions.iter().any(|function| function.takes_round)
    }

    fn together(&self) -> Option<&dyn Together<f64>> {
        Some(self)
    }
}

impl Together<f64> for OwnProblem {
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut Sheet<f64>]) {
        let ask = |py: Python<'_>| {
            let object = self.object.bind(py);
            if self.functions[level as usize].for_all {
                self.ask_all(object, level, round, sheets)
            } else {
                sheets.iter_mut().try_for_each(|sheet| self.ask_each(object, level, round, sheet))
            }
        };
        let done = if self.failure.is_there() { None } else { self.failure.catch(Python::attach(ask)) };
        if done.is_none() {
            for sheet in sheets {
                sheet.agents().for_each(|agent| sheet.refuse(agent));
            }
        }
    }
}
