//! An algorithm whose functions are written in Python.

use fabnet_core::algorithm::{Agent, Fresh, Request};
use fabnet_core::direction::{Direction, Parts, PartsMut, StepSizes};
use fabnet_core::{Algorithm, Blocks, Dim, Oracle, Segment, SegmentKind, Segments, Smoothness};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::agent_gradients::ORACLE;
use crate::first_exception::FirstException;
use crate::named_segment::NamedSegment;
use crate::numbers::array;

/// An algorithm given by an object with `segments` and `step`, and optionally `begin`, `keep`,
/// `point` and `bears_reversals`.
pub(crate) struct PythonAlgorithm {
    object: Py<PyAny>,
    dim: Dim,
    blocks: Blocks,
    /// The shared segments of a row.
    row: Vec<NamedSegment>,
    /// Those segments of a row that are pushed; an agent contributes a level to each.
    pushed: Vec<NamedSegment>,
    /// What an agent remembers and never sends.
    kept: Vec<NamedSegment>,
    has_begin: bool,
    has_point: bool,
    bears_reversals: bool,
    failure: FirstException,
}

/// The arrays of one agent that Python may change.
struct AgentArrays<'a> {
    /// The row as the agent last sent it; none if it has sent none yet.
    now: Option<&'a [f64]>,
    row: &'a mut [f64],
    input: &'a mut [f64],
    keep: &'a mut [f64],
}

impl PythonAlgorithm {
    /// Checks the object, and asks it for the segments of a problem of this size.
    pub(crate) fn new(object: &Bound<'_, PyAny>, dim: Dim, failure: FirstException) -> PyResult<Self> {
        let has = |name: &str| object.getattr(name).is_ok_and(|found| found.is_callable());
        if let Some(missing) = ["segments", "step"].into_iter().find(|name| !has(name)) {
            return Err(PyTypeError::new_err(format!(
                "there is no `{missing}`: an algorithm needs `segments(outer, inner)`, \
                 which names the parts of a row, and `step(agent)`"
            )));
        }
        let row = NamedSegment::read(object.call_method1("segments", (dim.outer, dim.inner))?.extract()?)?;
        let kept: Vec<(String, usize)> =
            if has("keep") { object.call_method1("keep", (dim.outer, dim.inner))?.extract()? } else { Vec::new() };
        let algorithm = Self {
            object: object.clone().unbind(),
            dim,
            blocks: SolutionBlocks.blocks(dim),
            pushed: row.iter().filter(|segment| segment.kind == SegmentKind::Push).cloned().collect(),
            row,
            kept: kept.into_iter().map(|(name, len)| NamedSegment { name, kind: SegmentKind::Private, len }).collect(),
            has_begin: has("begin"),
            has_point: has("point"),
            bears_reversals: object.getattr("bears_reversals").map_or(Ok(true), |found| found.extract())?,
            failure,
        };
        algorithm.check_solution()?;
        Ok(algorithm)
    }

    /// Checks that the segments x and y hold a solution, unless `point` returns it.
    fn check_solution(&self) -> PyResult<()> {
        let missing = |&(name, len): &(&str, usize)| len > 0 && self.place(name).is_none_or(|place| place.len() != len);
        let missing = [("x", self.dim.outer), ("y", self.dim.inner)].into_iter().find(missing);
        match missing {
            Some((name, len)) if !self.has_point => Err(PyValueError::new_err(format!(
                "where is the answer? Name a segment `{name}` of {len} scalars, \
                 or bring `point(agent)`, which returns x and y"
            ))),
            _ => Ok(()),
        }
    }

    /// The place of a segment in a row.
    fn place(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let mut places = self.row.iter().scan(0, |start, segment| {
            *start += segment.len;
            Some((&segment.name, *start - segment.len..*start))
        });
        places.find(|(known, _)| *known == name).map(|(_, place)| place)
    }

    /// The segments of a row, of which the last holds the private coordinates.
    fn segments_of(&self, row: &[f64]) -> Vec<NamedSegment> {
        let shared: usize = self.row.iter().map(|segment| segment.len).sum();
        let own = NamedSegment { name: "own".to_owned(), kind: SegmentKind::Private, len: row.len() - shared };
        self.row.iter().cloned().chain([own]).collect()
    }

    /// Makes the object `fabnet.Agent` that a function of Python gets.
    fn agent<'py>(
        &self,
        py: Python<'py>,
        memory: &AgentArrays<'_>,
        (index, round): (usize, u64),
    ) -> PyResult<Bound<'py, PyAny>> {
        let segments = self.segments_of(memory.row);
        let fields = PyDict::new(py);
        fields.set_item("row", arrays(py, &segments, memory.row)?)?;
        fields.set_item("now", memory.now.map(|now| arrays(py, &segments, now)).transpose()?)?;
        fields.set_item("input", arrays(py, &self.pushed, memory.input)?)?;
        fields.set_item("keep", arrays(py, &self.kept, memory.keep)?)?;
        fields.set_item("index", index)?;
        fields.set_item("round", round)?;
        py.import("fabnet._algorithm")?.getattr("Agent")?.call((), Some(&fields))
    }

    /// Asks the object for x and y of an agent.
    fn ask_point(&self, py: Python<'_>, row: &[f64], keep: &[f64], [x, y]: [&mut [f64]; 2]) -> PyResult<()> {
        let (mut row, mut keep) = (row.to_vec(), keep.to_vec());
        let mut input = vec![0.0; self.pushed.iter().map(|segment| segment.len).sum()];
        let memory = AgentArrays { now: None, row: &mut row, input: &mut input, keep: &mut keep };
        let agent = self.agent(py, &memory, (0, 0))?;
        let (found_x, found_y): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            self.object.bind(py).call_method1("point", (agent,))?.extract()?;
        x.copy_from_slice(array(&found_x, &[x.len()], &|| "x of point(agent)".to_owned())?.as_slice()?);
        y.copy_from_slice(array(&found_y, &[y.len()], &|| "y of point(agent)".to_owned())?.as_slice()?);
        Ok(())
    }

    /// Calls a function of Python with an agent, and copies the arrays that it leaves.
    fn act(&self, what: &str, point: Option<&[f64]>, memory: AgentArrays<'_>, oracle: &mut Oracle<'_, f64>) {
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
            let AgentArrays { row, input, keep, .. } = memory;
            copy_back(&agent, &self.segments_of(row), row, &place)?;
            copy_back(&agent.getattr("input")?, &self.pushed, input, &|name| place(&format!("input.{name}")))?;
            copy_back(&agent.getattr("keep")?, &self.kept, keep, &|name| place(&format!("keep.{name}")))
        });
        self.failure.catch(done);
    }
}

/// Copies segments into arrays of Python, by name.
fn arrays<'py>(py: Python<'py>, segments: &[NamedSegment], mut scalars: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    for segment in segments {
        let (own_scalars, rest) = scalars.split_at(segment.len);
        arrays.set_item(&*segment.name, PyArray1::from_slice(py, own_scalars))?;
        scalars = rest;
    }
    Ok(arrays)
}

/// Copies attributes of an object into their segments. They need not be finite: a dry run, which
/// gets zeros for gradients, may compute anything, and the caller of the engine detects divergence.
fn copy_back(
    from: &Bound<'_, PyAny>,
    segments: &[NamedSegment],
    mut to: &mut [f64],
    place: &dyn Fn(&str) -> String,
) -> PyResult<()> {
    for NamedSegment { name, len, .. } in segments {
        let (part, rest) = to.split_at_mut(*len);
        let found = from.getattr(&**name)?;
        part.copy_from_slice(array(&found, &[*len], &|| place(name))?.as_slice()?);
        to = rest;
    }
    Ok(())
}

impl Algorithm<f64> for PythonAlgorithm {
    fn direction(&self) -> &dyn Direction<f64> {
        &SolutionBlocks
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn segments(&self, own: usize) -> Segments {
        let shared = self.row.iter().map(|segment| Segment::new(segment.kind, segment.len));
        Segments::new(shared.chain([Segment::new(SegmentKind::Private, own)]))
    }

    fn keep(&self, _own: usize) -> usize {
        self.kept.iter().map(|segment| segment.len).sum()
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
            self.act("begin", Some(point), AgentArrays { now: None, row, input, keep }, oracle);
        }
    }

    fn step(&self, agent: Agent<'_, f64>, oracle: &mut Oracle<'_, f64>) -> Request {
        let Agent { now, next, keep, input } = agent;
        self.act("step", None, AgentArrays { now: Some(now), row: next, input, keep }, oracle);
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
        if !self.failure.is_there() {
            self.failure.catch(Python::attach(|py| self.ask_point(py, row, keep, [x, y])));
        }
    }

    fn bears_reversals(&self) -> bool {
        self.bears_reversals
    }
}

/// The blocks of a point, x and y. A direction is needed for them only: the algorithm computes its
/// own direction.
struct SolutionBlocks;

impl Direction<f64> for SolutionBlocks {
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

    // The functions of Python compute the direction themselves.
    fn eval(&self, _at: Parts<'_, f64>, _oracle: &mut Oracle<'_, f64>, mut d: PartsMut<'_, f64>) {
        d.fill(0.0);
    }

    fn step_sizes(&self, _smoothness: &Smoothness, _sizes: StepSizes) -> StepSizes {
        StepSizes::default()
    }
}
