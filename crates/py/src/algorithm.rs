//! An algorithm whose steps are Python's.

use std::collections::BTreeSet;

use fabnet_core::algorithm::{Agent, Fresh, Request};
use fabnet_core::direction::{Direction, Parts, PartsMut, Sizes};
use fabnet_core::{Algorithm, Blocks, Dim, Kind, Level, Mask, Oracle, Segment, Segments, Slopes, Smoothness};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scoped_tls_hkt::scoped_thread_local;

use crate::failure::Failure;
use crate::numbers::array;

/// An object with `segments` and `step` and, if it likes, `begin`, `keep`, `point` and `bears_reversals`.
pub(crate) struct OwnAlgorithm {
    object: Py<PyAny>,
    dim: Dim,
    blocks: Blocks,
    /// The shared parts of a row.
    row: Vec<Part>,
    /// Those to which an agent contributes a level.
    pushed: Vec<Part>,
    kept: Vec<Part>,
    has_begin: bool,
    has_point: bool,
    bears_reversals: bool,
    failure: Failure,
}

/// A named part of a row, or of what stays.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    kind: Kind,
    len: usize,
}

impl Part {
    /// What an agent has beside its parts.
    const TAKEN: [&str; 8] = ["own", "now", "input", "keep", "index", "round", "upper", "lower"];

    /// A list of (name, kind, length).
    fn read(list: Vec<(String, String, usize)>) -> PyResult<Vec<Self>> {
        // One is for private coordinates.
        if list.len() >= Mask::LIMIT {
            let message = format!("{} segments are too many: a row has at most {}", list.len(), Mask::LIMIT - 1);
            return Err(PyValueError::new_err(message));
        }
        let mut names = BTreeSet::from(Self::TAKEN.map(str::to_owned));
        let part = |(name, kind, len): (String, String, usize)| {
            let kind = match &*kind {
                "pull" => Kind::Pull,
                "push" => Kind::Push,
                "max" => Kind::Max,
                _ => {
                    return Err(PyValueError::new_err(format!(
                        "`{name}` is to be mixed by \"{kind}\": use \"pull\", \"push\" or \"max\""
                    )));
                }
            };
            if !names.insert(name.clone()) {
                return Err(PyValueError::new_err(format!("an agent has another `{name}`: choose another name")));
            }
            Ok(Self { name, kind, len })
        };
        list.into_iter().map(part).collect()
    }
}

/// One agent's memory, as Python may change it.
struct Memory<'a> {
    /// The row as it was sent; none when there is none yet.
    now: Option<&'a [f64]>,
    row: &'a mut [f64],
    input: &'a mut [f64],
    keep: &'a mut [f64],
}

impl OwnAlgorithm {
    /// For a problem of this size.
    pub(crate) fn new(object: &Bound<'_, PyAny>, dim: Dim, failure: Failure) -> PyResult<Self> {
        let has = |name: &str| object.getattr(name).is_ok_and(|found| found.is_callable());
        if let Some(missing) = ["segments", "step"].into_iter().find(|name| !has(name)) {
            return Err(PyTypeError::new_err(format!(
                "there is no `{missing}`: an algorithm needs `segments(outer, inner)`, which names the parts of a row, and `step(agent)`"
            )));
        }
        let row = Part::read(object.call_method1("segments", (dim.outer, dim.inner))?.extract()?)?;
        let kept: Vec<(String, usize)> =
            if has("keep") { object.call_method1("keep", (dim.outer, dim.inner))?.extract()? } else { Vec::new() };
        let algorithm = Self {
            object: object.clone().unbind(),
            dim,
            blocks: Answer.blocks(dim),
            pushed: row.iter().filter(|part| part.kind == Kind::Push).cloned().collect(),
            row,
            kept: kept.into_iter().map(|(name, len)| Part { name, kind: Kind::Own, len }).collect(),
            has_begin: has("begin"),
            has_point: has("point"),
            bears_reversals: object.getattr("bears_reversals").map_or(Ok(true), |found| found.extract())?,
            failure,
        };
        for (name, len) in [("x", dim.outer), ("y", dim.inner)] {
            if len > 0 && !algorithm.has_point && algorithm.place(name).is_none_or(|place| place.len() != len) {
                return Err(PyValueError::new_err(format!(
                    "where is the answer? Name a segment `{name}` of {len} scalars, or bring `point(agent)`, which returns x and y"
                )));
            }
        }
        Ok(algorithm)
    }

    /// Where a part is in a row.
    fn place(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let mut places = self.row.iter().scan(0, |start, part| {
            *start += part.len;
            Some((&part.name, *start - part.len..*start))
        });
        places.find(|(known, _)| *known == name).map(|(_, place)| place)
    }

    /// The parts of a row, and private coordinates, which are all that follows.
    fn parts(&self, row: &[f64]) -> Vec<Part> {
        let shared: usize = self.row.iter().map(|part| part.len).sum();
        let own = Part { name: "own".to_owned(), kind: Kind::Own, len: row.len() - shared };
        self.row.iter().cloned().chain([own]).collect()
    }

    /// An agent as Python sees it.
    fn agent<'py>(
        &self,
        py: Python<'py>,
        memory: &Memory<'_>,
        (index, round): (usize, u64),
    ) -> PyResult<Bound<'py, PyAny>> {
        let parts = self.parts(memory.row);
        let fields = PyDict::new(py);
        fields.set_item("row", arrays(py, &parts, memory.row)?)?;
        fields.set_item("now", memory.now.map(|now| arrays(py, &parts, now)).transpose()?)?;
        fields.set_item("input", arrays(py, &self.pushed, memory.input)?)?;
        fields.set_item("keep", arrays(py, &self.kept, memory.keep)?)?;
        fields.set_item("index", index)?;
        fields.set_item("round", round)?;
        py.import("fabnet._algorithm")?.getattr("Agent")?.call((), Some(&fields))
    }

    /// Lets Python do something to an agent, and takes over what it has done.
    fn act(&self, what: &str, point: Option<&[f64]>, memory: Memory<'_>, oracle: &mut Oracle<'_, f64>) {
        if self.failure.is_there() {
            return;
        }
        let (index, round) = (oracle.agent, oracle.round);
        let done = Python::attach(|py| {
            let agent = self.agent(py, &memory, (index, round))?;
            if let Some(point) = point {
                let (x, y) = point.split_at(self.dim.outer);
                agent.setattr("x", PyArray1::from_slice(py, x))?;
                agent.setattr("y", PyArray1::from_slice(py, &y[..self.dim.inner]))?;
            }
            ORACLE.set(oracle, || self.object.bind(py).call_method1(what, (&agent,)))?;
            let place = |name: &str| format!("`{name}` of agent {index} after `{what}` in round {round}");
            let Memory { row, input, keep, .. } = memory;
            take(&agent, &self.parts(row), row, &place)?;
            take(&agent.getattr("input")?, &self.pushed, input, &|name| place(&format!("input.{name}")))?;
            take(&agent.getattr("keep")?, &self.kept, keep, &|name| place(&format!("keep.{name}")))
        });
        self.failure.catch(done);
    }
}

fn arrays<'py>(py: Python<'py>, parts: &[Part], mut scalars: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    for part in parts {
        let (part_scalars, rest) = scalars.split_at(part.len);
        arrays.set_item(&*part.name, PyArray1::from_slice(py, part_scalars))?;
        scalars = rest;
    }
    Ok(arrays)
}

/// Copies attributes to where they belong. They need not be finite: a rehearsal may go astray, and agents that run away are noticed elsewhere.
fn take(from: &Bound<'_, PyAny>, parts: &[Part], mut to: &mut [f64], place: &dyn Fn(&str) -> String) -> PyResult<()> {
    for Part { name, len, .. } in parts {
        let (part, rest) = to.split_at_mut(*len);
        let found = from.getattr(&**name)?;
        part.copy_from_slice(array(&found, &[*len], &|| place(name))?.as_slice()?);
        to = rest;
    }
    Ok(())
}

impl Algorithm<f64> for OwnAlgorithm {
    fn direction(&self) -> &dyn Direction<f64> {
        &Answer
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn segments(&self, own: usize) -> Segments {
        let shared = self.row.iter().map(|part| Segment::new(part.kind, part.len));
        Segments::new(shared.chain([Segment::new(Kind::Own, own)]))
    }

    fn keep(&self, _own: usize) -> usize {
        self.kept.iter().map(|part| part.len).sum()
    }

    fn begin(&self, point: &[f64], agent: Fresh<'_, f64>, oracle: &mut Oracle<'_, f64>) {
        let (x, rest) = point.split_at(self.dim.outer);
        let (y, own) = rest.split_at(self.dim.inner);
        for (name, values) in [("x", x), ("y", y)] {
            if let Some(place) = self.place(name).filter(|place| place.len() == values.len()) {
                agent.row[place].copy_from_slice(values);
            }
        }
        let shared = agent.row.len() - own.len();
        agent.row[shared..].copy_from_slice(own);
        if self.has_begin {
            let Fresh { row, keep, input } = agent;
            self.act("begin", Some(point), Memory { now: None, row, input, keep }, oracle);
        }
    }

    fn step(&self, agent: Agent<'_, f64>, oracle: &mut Oracle<'_, f64>) -> Request {
        let Agent { now, next, keep, input } = agent;
        self.act("step", None, Memory { now: Some(now), row: next, input, keep }, oracle);
        Request::Go
    }

    fn point(&self, row: &[f64], keep: &[f64], out: &mut [f64]) {
        let (x, rest) = out.split_at_mut(self.dim.outer);
        let (y, own) = rest.split_at_mut(self.dim.inner);
        own.copy_from_slice(&row[row.len() - own.len()..]);
        if !self.has_point {
            for (name, values) in [("x", x), ("y", y)] {
                if let Some(place) = self.place(name) {
                    values.copy_from_slice(&row[place]);
                }
            }
            return;
        }
        if self.failure.is_there() {
            return;
        }
        let found = Python::attach(|py| {
            let (mut row, mut keep) = (row.to_vec(), keep.to_vec());
            let mut input = vec![0.0; self.pushed.iter().map(|part| part.len).sum()];
            let memory = Memory { now: None, row: &mut row, input: &mut input, keep: &mut keep };
            let agent = self.agent(py, &memory, (0, 0))?;
            let (found_x, found_y): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                self.object.bind(py).call_method1("point", (agent,))?.extract()?;
            x.copy_from_slice(array(&found_x, &[x.len()], &|| "x of point(agent)".to_owned())?.as_slice()?);
            y.copy_from_slice(array(&found_y, &[y.len()], &|| "y of point(agent)".to_owned())?.as_slice()?);
            Ok(())
        });
        self.failure.catch(found);
    }

    fn bears_reversals(&self) -> bool {
        self.bears_reversals
    }
}

/// A point that is an answer, x and y.
struct Answer;

impl Direction<f64> for Answer {
    fn blocks(&self, dim: Dim) -> Blocks {
        Blocks::new([("x", dim.outer), ("y", dim.inner)])
    }

    fn start(&self, x: &[f64], y: &[f64], v: &mut [f64]) {
        v[..x.len()].copy_from_slice(x);
        v[x.len()..].copy_from_slice(y);
    }

    fn solution<'a>(&'a self, dim: Dim, v: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        v.split_at(dim.outer)
    }

    // What agents follow is in their steps.
    fn eval(&self, _at: Parts<'_, f64>, _oracle: &mut Oracle<'_, f64>, mut d: PartsMut<'_, f64>) {
        d.fill(0.0);
    }

    fn automatic(&self, _smoothness: &Smoothness, _setbacks: i32) -> Sizes {
        Sizes::default()
    }
}

/// The functions of one agent, as an oracle has them.
trait Ask {
    /// How many outer coordinates, shared and private, and inner ones.
    fn sizes(&self) -> [usize; 2];

    /// The gradients at a point.
    fn ask(&mut self, level: Level, outer: &[f64], y: &[f64]) -> [Vec<f64>; 2];
}

impl Ask for Oracle<'_, f64> {
    fn sizes(&self) -> [usize; 2] {
        let Dim { outer, inner } = self.problem.dim();
        [outer + self.problem.private(self.agent), inner]
    }

    fn ask(&mut self, level: Level, outer: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
        let shared = self.problem.dim().outer;
        let (mut by_outer, mut by_y) = (vec![0.0; outer.len()], vec![0.0; y.len()]);
        let (x, own) = outer.split_at(shared);
        let (by_x, by_own) = by_outer.split_at_mut(shared);
        self.add_gradient(level, own, x, y, Slopes { scale: (1.0, 1.0), own: by_own, x: by_x, y: &mut by_y });
        [by_outer, by_y]
    }
}

// Python cannot hold what is borrowed for a moment, so who calls Python leaves it here.
scoped_thread_local!(static mut ORACLE: for<'a> &'a mut (dyn Ask + 'a));

/// The gradients of a function of the agent that acts, in x, private coordinates last, and in y.
#[pyfunction]
pub(crate) fn gradients<'py>(
    py: Python<'py>,
    upper: bool,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
    if !ORACLE.is_set() {
        return Err(PyRuntimeError::new_err("an agent's functions can be asked within `begin` and `step` only"));
    }
    let (level, name) = if upper { (Level::Upper, "upper") } else { (Level::Lower, "lower") };
    ORACLE.with(|oracle| {
        let [outer, inner] = oracle.sizes();
        let x = array(x, &[outer], &|| format!("x of {name}(x, y)"))?;
        let y = array(y, &[inner], &|| format!("y of {name}(x, y)"))?;
        Ok(oracle.ask(level, x.as_slice()?, y.as_slice()?).map(|slope| PyArray1::from_vec(py, slope)))
    })
}
