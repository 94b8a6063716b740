//! A problem whose functions are written in Python.

use std::ops::Range;

use fabnet_core::{
    BatchOracle, Capabilities, Dim, GradientMut, Level, Point, PrivatePart, Problem, QueryBatch, Scratch,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::first_exception::FirstException;
use crate::level_function::{LevelFunction, name, value_and_gradients};
use crate::numbers::{array, finite, numbers};
use crate::reusable_array::ReusableArray;

/// A problem given by an object with `outer`, `inner` and the functions of both levels.
pub(crate) struct PythonProblem {
    object: Py<PyAny>,
    agents: usize,
    dim: Dim,
    /// The number of private coordinates of each agent.
    private: Vec<usize>,
    /// The starting points x and y of each agent; empty if the object does not give them.
    starts: Vec<(Vec<f64>, Vec<f64>)>,
    /// The functions of the upper and the lower level, by the number of the level.
    functions: [LevelFunction; 2],
    failure: FirstException,
    /// The arrays X and Y with the points of all agents.
    points: [ReusableArray; 2],
}

/// The points of all agents as arrays with a row for each.
struct GatheredPoints<'py> {
    x: Bound<'py, PyArray2<f64>>,
    y: Bound<'py, PyArray2<f64>>,
    /// The agents whose point is not finite; their rows are zero.
    lost: Vec<usize>,
}

impl PythonProblem {
    /// Checks the object, and asks it for sizes and starting points.
    pub(crate) fn new(object: &Bound<'_, PyAny>, agents: usize, failure: FirstException) -> PyResult<Self> {
        let dim = Dim { outer: size(object, "outer")?, inner: size(object, "inner")? };
        let functions = [LevelFunction::find(object, Level::Upper)?, LevelFunction::find(object, Level::Lower)?];
        let private = private_sizes(object, agents)?;
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
            points: Default::default(),
        };
        if has_function(object, "start")? {
            brought.starts = (0..agents).map(|agent| brought.ask_start(object, agent)).collect::<PyResult<_>>()?;
        }
        Ok(brought)
    }

    /// Evaluates a level for one agent, apart from all others.
    fn alone(&self, level: Level, at: Point<'_, f64>) -> QueryBatch<f64> {
        let mut sheet = QueryBatch::new(self.dim, at.agent..at.agent + 1, |agent| self.private[agent]);
        sheet.ask(at);
        self.answer(level, at.round, &mut [&mut sheet]);
        sheet
    }

    /// Asks for the starting point of an agent.
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

    /// Evaluates a level for one agent: the value and the gradients in x, private coordinates last,
    /// and in y.
    fn ask_one(&self, object: &Bound<'_, PyAny>, level: Level, at: Point<'_, f64>) -> PyResult<(f64, [Vec<f64>; 2])> {
        let (py, agent, round) = (object.py(), at.agent, at.round);
        let outer: Vec<f64> = at.x.iter().chain(at.own).copied().collect();
        let (x, y) = (PyArray1::from_vec(py, outer), PyArray1::from_slice(py, at.y));
        let found = self.functions[level as usize].call(object, (agent, &x, &y), round)?;
        let place = |part: &str| format!("{part} of {}({agent}, x, y) in round {round}", name(level));
        let (value, by_x, by_y) = value_and_gradients(&found, &|| place("the result"))?;
        let outer = self.dim.outer + self.private[agent];
        let by_x = if outer == 0 { Vec::new() } else { numbers(&by_x, &[outer], &|| place("the gradient in x"))? };
        let by_y = numbers(&by_y, &[self.dim.inner], &|| place("the gradient in y"))?;
        let wrong = |_| PyTypeError::new_err(format!("{} is no number: {value}", place("the value")));
        Ok((value.extract().map_err(wrong)?, [by_x, by_y]))
    }

    /// Evaluates one agent after the other. Points that are not finite are refused: a dry run,
    /// which gets zeros for gradients, may compute anything, and the caller of the engine detects
    /// divergence.
    fn ask_each(
        &self,
        object: &Bound<'_, PyAny>,
        level: Level,
        round: u64,
        sheet: &mut QueryBatch<f64>,
    ) -> PyResult<()> {
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

    /// Evaluates all agents in one call. Agents that ask nothing, or whose point is not finite, are
    /// at zero in it.
    fn ask_all(
        &self,
        object: &Bound<'_, PyAny>,
        level: Level,
        round: u64,
        sheets: &mut [&mut QueryBatch<f64>],
    ) -> PyResult<()> {
        let (Dim { outer, inner }, agents) = (self.dim, self.agents);
        let GatheredPoints { x, y, lost } = self.gather(object.py(), sheets)?;
        let found = self.functions[level as usize].call(object, (&x, &y), round)?;
        let place = |part: &str| format!("{part} of {}_all(X, Y) in round {round}", name(level));
        let (value, by_x, by_y) = value_and_gradients(&found, &|| place("the result"))?;
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

    /// Writes the points of all agents into the arrays X and Y.
    fn gather<'py>(&self, py: Python<'py>, sheets: &[&mut QueryBatch<f64>]) -> PyResult<GatheredPoints<'py>> {
        let (Dim { outer, inner }, agents) = (self.dim, self.agents);
        let arrays = [self.points[0].array(py, [agents, outer])?, self.points[1].array(py, [agents, inner])?];
        let mut lost = Vec::new();
        for (part, (array, width)) in arrays.iter().zip([outer, inner]).enumerate() {
            let mut array = array.readwrite();
            let rows = array.as_slice_mut()?;
            if sheets.iter().map(|sheet| sheet.agents().len()).sum::<usize>() < agents {
                rows.fill(0.0);
            }
            for sheet in sheets {
                let place = sheet.agents().start * width..sheet.agents().end * width;
                rows[place].copy_from_slice(sheet.points()[part]);
            }
            lost.extend(zero_lost(rows, width));
        }
        let [x, y] = arrays;
        Ok(GatheredPoints { x, y, lost })
    }
}

/// Sets rows that are not finite to zero; returns the agents whose they are.
fn zero_lost(rows: &mut [f64], width: usize) -> Vec<usize> {
    let mut lost = Vec::new();
    for (agent, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
        if !row.iter().all(|number| number.is_finite()) {
            row.fill(0.0);
            lost.push(agent);
        }
    }
    lost
}

/// Reads an attribute that is a number of coordinates.
fn size(object: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let value = object.getattr(name).map_err(|_| {
        PyTypeError::new_err(format!("a problem needs `{name}`: how many coordinates that variable has"))
    })?;
    let wrong = |_| PyTypeError::new_err(format!("`{name}` is a whole number of coordinates, not {value}"));
    value.extract().map_err(wrong)
}

/// Whether the object has this optional function; an attribute that is no function is an error.
fn has_function(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    match object.getattr(name) {
        Ok(found) if !found.is_callable() => {
            Err(PyTypeError::new_err(format!("`{name}` of a problem is a function of the agent, not {found}")))
        }
        found => Ok(found.is_ok()),
    }
}

/// The number of private coordinates of each agent.
fn private_sizes(object: &Bound<'_, PyAny>, agents: usize) -> PyResult<Vec<usize>> {
    if !has_function(object, "private")? {
        return Ok(vec![0; agents]);
    }
    (0..agents).map(|agent| object.call_method1("private", (agent,))?.extract()).collect()
}

impl Problem<f64> for PythonProblem {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> Dim {
        self.dim
    }

    fn start(&self, agent: usize, own: &mut [f64], x: &mut [f64], y: &mut [f64]) {
        if let Some((outer, inner)) = self.starts.get(agent) {
            x.copy_from_slice(&outer[..x.len()]);
            own.copy_from_slice(&outer[x.len()..]);
            y.copy_from_slice(inner);
        }
    }

    fn add_gradient(&self, level: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _scratch: &mut Scratch<f64>) {
        self.alone(level, at).add_to(at.agent, to);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.alone(level, at).values()[0]
    }

    fn capabilities(&self) -> Capabilities<'_, f64> {
        Capabilities {
            private: self.private.iter().any(|&count| count > 0).then_some(self as _),
            noisy: self.functions.iter().any(|function| function.takes_round),
            batched: Some(self),
            ..Capabilities::default()
        }
    }
}

impl PrivatePart for PythonProblem {
    fn private(&self, agent: usize) -> usize {
        self.private[agent]
    }
}

impl BatchOracle<f64> for PythonProblem {
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut QueryBatch<f64>]) {
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
