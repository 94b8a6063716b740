//! A problem whose functions are Python's.

use fabnet_core::{Dim, Level, Point, Problem, Question, Scratch, Slopes, Together};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn};
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
        let has = |name: &str| object.getattr(name).is_ok_and(|found| found.is_callable());
        let functions = [Function::find(object, Level::Upper)?, Function::find(object, Level::Lower)?];
        let private: Vec<usize> = if has("private") {
            (0..agents).map(|agent| object.call_method1("private", (agent,))?.extract()).collect::<PyResult<_>>()?
        } else {
            vec![0; agents]
        };
        if private.iter().any(|&own| own > 0) && functions.iter().any(|function| function.for_all) {
            return Err(PyTypeError::new_err(
                "agents with private coordinates differ in size: bring upper(agent, x, y) and lower(agent, x, y)",
            ));
        }
        let mut brought =
            Self { object: object.clone().unbind(), agents, dim, private, starts: Vec::new(), functions, failure };
        if has("start") {
            brought.starts = (0..agents).map(|agent| brought.ask_start(object, agent)).collect::<PyResult<_>>()?;
        }
        Ok(brought)
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

    /// Values and gradients of a level for questions, which are all agents' or one's. What has run away is not asked for: it may be a rehearsal that went astray, and if it is not,
    /// whoever looks at the agents sees it.
    fn evaluate(&self, level: Level, questions: &mut [&mut Question<f64>]) -> Vec<f64> {
        let mut values = vec![f64::NAN; questions.len()];
        if self.failure.is_there() {
            return values;
        }
        let finite = |question: &Question<f64>| {
            [&question.own, &question.x, &question.y].into_iter().flatten().all(|number| number.is_finite())
        };
        let (mut open, mut places) = (Vec::new(), Vec::new());
        for (place, question) in questions.iter_mut().enumerate() {
            if finite(question) {
                open.push(&mut **question);
                places.push(place);
            } else {
                question.slopes.iter_mut().for_each(|slope| slope.fill(f64::NAN));
            }
        }
        if open.is_empty() {
            return values;
        }
        let found = Python::attach(|py| {
            let object = self.object.bind(py);
            if self.functions[level as usize].for_all {
                self.ask_all(object, level, &mut open)
            } else {
                open.iter_mut().map(|question| self.ask_one(object, level, question)).collect()
            }
        });
        let found = self.failure.catch(found).unwrap_or_default();
        places.into_iter().zip(found).for_each(|(place, value)| values[place] = value);
        values
    }

    fn ask_one(&self, object: &Bound<'_, PyAny>, level: Level, question: &mut Question<f64>) -> PyResult<f64> {
        let (py, agent) = (object.py(), question.agent);
        let outer: Vec<f64> = question.x.iter().chain(&question.own).copied().collect();
        let (x, y) = (PyArray1::from_vec(py, outer), PyArray1::from_slice(py, &question.y));
        let found = self.functions[level as usize].call(object, (agent, &x, &y), question.round)?;
        let place = |part: &str| format!("{part} of {}({agent}, x, y) in round {}", name(level), question.round);
        let (value, by_x, by_y) = three(&found, &|| place("the result"))?;
        let outer = self.dim.outer + self.private[agent];
        let by_x = if outer == 0 { Vec::new() } else { numbers(&by_x, &[outer], &|| place("the gradient in x"))? };
        let by_y = numbers(&by_y, &[self.dim.inner], &|| place("the gradient in y"))?;
        question.slopes[0].copy_from_slice(&by_x[self.dim.outer..]);
        question.slopes[1].copy_from_slice(&by_x[..self.dim.outer]);
        question.slopes[2].copy_from_slice(&by_y);
        value.extract().map_err(|_| PyTypeError::new_err(format!("{} is no number: {value}", place("the value"))))
    }

    fn ask_all(
        &self,
        object: &Bound<'_, PyAny>,
        level: Level,
        questions: &mut [&mut Question<f64>],
    ) -> PyResult<Vec<f64>> {
        let (py, Dim { outer, inner }) = (object.py(), self.dim);
        let (x, y) =
            (PyArray2::zeros(py, [self.agents, outer], false), PyArray2::zeros(py, [self.agents, inner], false));
        {
            let (mut x, mut y) = (x.readwrite(), y.readwrite());
            let (x, y) = (x.as_slice_mut()?, y.as_slice_mut()?);
            for question in &*questions {
                x[question.agent * outer..][..outer].copy_from_slice(&question.x);
                y[question.agent * inner..][..inner].copy_from_slice(&question.y);
            }
        }
        let round = questions[0].round;
        let found = self.functions[level as usize].call(object, (&x, &y), round)?;
        let place = |part: &str| format!("{part} of {}_all(X, Y) in round {round}", name(level));
        let (value, by_x, by_y) = three(&found, &|| place("the result"))?;
        if outer > 0 {
            let by_x = finite(&by_x, &[self.agents, outer], &|| place("the gradient in X"))?;
            hand_out(&by_x, questions, 1, outer)?;
        }
        let by_y = finite(&by_y, &[self.agents, inner], &|| place("the gradient in Y"))?;
        hand_out(&by_y, questions, 2, inner)?;
        let values = array(&value, &[self.agents], &|| place("the values"))?;
        let values = values.as_slice()?;
        Ok(questions.iter().map(|question| values[question.agent]).collect())
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

fn hand_out(
    rows: &PyReadonlyArrayDyn<'_, f64>,
    questions: &mut [&mut Question<f64>],
    part: usize,
    width: usize,
) -> PyResult<()> {
    let rows = rows.as_slice()?;
    for question in questions {
        question.slopes[part].copy_from_slice(&rows[question.agent * width..][..width]);
    }
    Ok(())
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
        let mut question = Question::new(at);
        self.evaluate(level, &mut [&mut question]);
        question.add_to(to);
    }

    fn value(&self, level: Level, at: Point<'_, f64>) -> f64 {
        self.evaluate(level, &mut [&mut Question::new(at)])[0]
    }

    fn noisy(&self) -> bool {
        self.functions.iter().any(|function| function.takes_round)
    }

    fn together(&self) -> Option<&dyn Together<f64>> {
        Some(self)
    }
}

impl Together<f64> for OwnProblem {
    fn values(&self, level: Level, points: &[Point<'_, f64>]) -> Vec<f64> {
        let mut questions: Vec<_> = points.iter().map(|&point| Question::new(point)).collect();
        self.evaluate(level, &mut questions.iter_mut().collect::<Vec<_>>())
    }

    fn answer(&self, level: Level, questions: &mut [&mut Question<f64>]) {
        self.evaluate(level, questions);
    }
}
