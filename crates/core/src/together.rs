//! Functions that are evaluated for all agents at once.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::{
    ClosedForm, Curvature, DataRange, Dim, Finding, Level, Optimum, Point, Problem, Scalar, Scratch, Slopes, Tensor,
    View, linalg,
};

/// Evaluates the functions of many agents in one call: one border to another language is crossed, or one product of matrices is made.
/// What single-level methods minimise on such a problem is the sum of its levels: [`Problem::add_objective`] is not asked.
pub trait Together<T: Scalar>: Send + Sync {
    /// Answers what is open on these sheets, in one round, with values and gradients.
    fn answer(&self, level: Level, round: u64, sheets: &mut [&mut Sheet<T>]);
}

/// Questions of agents that follow one another, one each: where their functions are to be evaluated, and what is found there. So do the rows.
#[derive(Clone, Debug)]
pub struct Sheet<T> {
    agents: Range<usize>,
    dim: Dim,
    /// Where each agent's private coordinates end.
    ends: Vec<usize>,
    states: Vec<State>,
    /// Private coordinates, x and y.
    at: [Vec<T>; 3],
    slopes: [Vec<T>; 3],
    values: Vec<T>,
}

/// What is known of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unasked,
    Open,
    Answered,
}

impl<T: Scalar> Sheet<T> {
    /// For these agents of a problem, who have not asked anything.
    pub fn new(problem: &dyn Problem<T>, agents: Range<usize>) -> Self {
        let ends = agents.clone().scan(0, |end, agent| {
            *end += problem.private(agent);
            Some(*end)
        });
        let (ends, dim, count): (Vec<_>, _, _) = (ends.collect(), problem.dim(), agents.len());
        let rows = || {
            [ends.last().copied().unwrap_or(0), count * dim.outer, count * dim.inner].map(|len| vec![T::zero(); len])
        };
        let (at, slopes) = (rows(), rows());
        Self { agents, dim, ends, states: vec![State::Unasked; count], at, slopes, values: vec![T::zero(); count] }
    }

    /// The agents.
    pub fn agents(&self) -> Range<usize> {
        self.agents.clone()
    }

    /// Asks for an agent's function at a point.
    pub fn ask(&mut self, at: Point<'_, T>) {
        for (part, from) in [at.own, at.x, at.y].into_iter().enumerate() {
            let place = self.place(part, at.agent);
            self.at[part][place].copy_from_slice(from);
        }
        self.states[at.agent - self.agents.start] = State::Open;
    }

    /// Whether an agent waits for an answer.
    pub fn is_open(&self, agent: usize) -> bool {
        self.states[agent - self.agents.start] == State::Open
    }

    /// Where an agent's function is to be evaluated.
    pub fn point(&self, agent: usize, round: u64) -> Point<'_, T> {
        let [own, x, y] = [0, 1, 2].map(|part| &self.at[part][self.place(part, agent)]);
        Point { agent, round, own, x, y }
    }

    /// The rows of x and y of all agents.
    pub fn points(&self) -> [&[T]; 2] {
        [&self.at[1], &self.at[2]]
    }

    /// An agent's value and its gradients in private coordinates, x and y, to be overwritten.
    pub fn answer(&mut self, agent: usize) -> (&mut T, [&mut [T]; 3]) {
        let [own, x, y] = [0, 1, 2].map(|part| self.place(part, agent));
        let [by_own, by_x, by_y] = &mut self.slopes;
        (&mut self.values[agent - self.agents.start], [&mut by_own[own], &mut by_x[x], &mut by_y[y]])
    }

    /// Answers whoever waits, from the values of all agents and the rows of their gradients in x and y.
    pub fn answer_all(&mut self, values: &[T], [by_x, by_y]: [&[T]; 2]) {
        if self.states.iter().all(|state| *state == State::Open) {
            self.values.copy_from_slice(values);
            self.slopes[1].copy_from_slice(by_x);
            self.slopes[2].copy_from_slice(by_y);
            return;
        }
        for agent in self.agents().filter(|&agent| self.is_open(agent)).collect::<Vec<_>>() {
            let (row, x, y) = (agent - self.agents.start, self.place(1, agent), self.place(2, agent));
            self.values[row] = values[row];
            self.slopes[1][x.clone()].copy_from_slice(&by_x[x]);
            self.slopes[2][y.clone()].copy_from_slice(&by_y[y]);
        }
    }

    /// Says that there is no answer to an agent's question.
    pub fn refuse(&mut self, agent: usize) {
        let (value, slopes) = self.answer(agent);
        *value = T::nan();
        for slope in slopes {
            slope.fill(T::nan());
        }
    }

    /// What was found.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Adds an agent's gradients.
    pub fn add_to(&self, agent: usize, to: Slopes<'_, T>) {
        let (outer, inner) = to.scale;
        for (part, (to, scale)) in [(to.own, outer), (to.x, outer), (to.y, inner)].into_iter().enumerate() {
            if !to.is_empty() {
                linalg::add_scaled(to, scale, &self.slopes[part][self.place(part, agent)]);
            }
        }
    }

    /// Whether an answer is known at this point. What has run away is the same everywhere: it is not asked for again and again.
    fn knows(&self, at: Point<'_, T>) -> bool {
        // All of them, whatever the first says: that is faster.
        let same =
            |a: &[T], b: &[T]| a.iter().zip(b).fold(true, |same, (a, b)| same & ((a == b) | (a.is_nan() & b.is_nan())));
        let known = self.point(at.agent, at.round);
        self.states[at.agent - self.agents.start] == State::Answered
            && same(known.y, at.y)
            && same(known.x, at.x)
            && same(known.own, at.own)
    }

    /// What was open has been answered.
    fn close(&mut self) {
        self.states.iter_mut().filter(|state| **state == State::Open).for_each(|state| *state = State::Answered);
    }

    /// Where an agent's part is: private coordinates, x, or y.
    fn place(&self, part: usize, agent: usize) -> Range<usize> {
        let row = agent - self.agents.start;
        match part {
            0 => row.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[row],
            1 => row * self.dim.outer..(row + 1) * self.dim.outer,
            _ => row * self.dim.inner..(row + 1) * self.dim.inner,
        }
    }
}

/// All that is asked for in one round: it is rehearsed, with nothing for an answer, until nobody asks for anything new.
pub(crate) struct Script<T> {
    parts: Vec<Mutex<Part<T>>>,
    /// The first agent of each part.
    starts: Vec<usize>,
}

/// What agents ask for whom one thread looks after at a time.
struct Part<T> {
    agents: Range<usize>,
    /// A sheet for everybody's first question on a level, one for the second, and so on.
    sheets: [Vec<Sheet<T>>; 2],
    /// How many questions each has asked on each level.
    asked: Vec<[usize; 2]>,
    /// Whether all of them had an answer.
    complete: bool,
}

impl<T: Scalar> Script<T> {
    /// For agents in these pieces.
    pub(crate) fn new(pieces: impl Iterator<Item = Range<usize>>) -> Self {
        let part = |agents: Range<usize>| Part {
            asked: vec![[0; 2]; agents.len()],
            sheets: Default::default(),
            agents,
            complete: false,
        };
        let (starts, parts) = pieces.map(|agents| (agents.start, Mutex::new(part(agents)))).unzip();
        Self { parts, starts }
    }

    /// Before the first rehearsal of a round: nothing is known.
    pub(crate) fn forget(&mut self) {
        let sheets = self.parts.iter_mut().flat_map(|part| unlocked(part).sheets.iter_mut().flatten());
        sheets.for_each(|sheet| sheet.states.fill(State::Unasked));
    }

    /// Before a rehearsal.
    pub(crate) fn begin(&mut self) {
        for part in self.parts.iter_mut().map(unlocked) {
            part.asked.fill([0; 2]);
            part.complete = true;
        }
    }

    /// After it: whether everything that was asked for had an answer. If not, it is answered.
    pub(crate) fn is_complete(&mut self, together: &dyn Together<T>, round: u64) -> bool {
        if self.parts.iter_mut().all(|part| unlocked(part).complete) {
            return true;
        }
        for level in [Level::Upper, Level::Lower] {
            let mut sheets: Vec<_> =
                self.parts.iter_mut().map(|part| unlocked(part).sheets[level as usize].iter_mut()).collect();
            loop {
                let mut row: Vec<_> = sheets.iter_mut().filter_map(Iterator::next).collect();
                if row.is_empty() {
                    break;
                }
                if row.iter().any(|sheet| sheet.states.contains(&State::Open)) {
                    together.answer(level, round, &mut row);
                    row.into_iter().for_each(Sheet::close);
                }
            }
        }
        false
    }

    fn ask(&self, problem: &dyn Problem<T>, level: Level, at: Point<'_, T>, to: Slopes<'_, T>) {
        let part = self.starts.partition_point(|&start| start <= at.agent) - 1;
        let mut part = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let Part { agents, sheets, asked, .. } = &mut *part;
        let (sheets, count) = (&mut sheets[level as usize], &mut asked[at.agent - agents.start][level as usize]);
        if sheets.len() == *count {
            sheets.push(Sheet::new(problem, agents.clone()));
        }
        let sheet = &mut sheets[*count];
        *count += 1;
        if sheet.knows(at) {
            sheet.add_to(at.agent, to);
        } else {
            sheet.ask(at);
            part.complete = false;
        }
    }
}

fn unlocked<T>(part: &mut Mutex<Part<T>>) -> &mut Part<T> {
    part.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// A problem whose gradients come from a script.
pub(crate) struct Rehearsed<'a, T: Scalar> {
    pub(crate) problem: &'a dyn Problem<T>,
    pub(crate) script: &'a Script<T>,
}

impl<T: Scalar> Problem<T> for Rehearsed<'_, T> {
    fn agents(&self) -> usize {
        self.problem.agents()
    }

    fn dim(&self) -> Dim {
        self.problem.dim()
    }

    fn private(&self, agent: usize) -> usize {
        self.problem.private(agent)
    }

    fn start(&self, agent: usize, own: &mut [T], x: &mut [T], y: &mut [T]) {
        self.problem.start(agent, own, x, y);
    }

    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, _scratch: &mut Scratch<T>) {
        self.script.ask(self.problem, level, at, to);
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        self.problem.value(level, at)
    }

    fn missing(&self, agent: usize) -> Option<String> {
        self.problem.missing(agent)
    }

    fn data_range(&self, agent: usize) -> Option<DataRange> {
        self.problem.data_range(agent)
    }

    fn batches(&self, agent: usize) -> usize {
        self.problem.batches(agent)
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        self.problem.batch(agent, round)
    }

    fn measure(&self, metric: &str, view: &View<'_, T>) -> Option<f64> {
        self.problem.measure(metric, view)
    }

    fn findings(&self, view: &View<'_, T>) -> Vec<Finding> {
        self.problem.findings(view)
    }

    fn tensors(&self) -> Vec<Tensor> {
        self.problem.tensors()
    }

    fn data_bytes(&self) -> usize {
        self.problem.data_bytes()
    }

    fn noisy(&self) -> bool {
        self.problem.noisy()
    }

    fn curvature(&self) -> Option<&dyn Curvature<T>> {
        self.problem.curvature()
    }

    fn optimum(&self) -> Option<Optimum<T>> {
        self.problem.optimum()
    }

    fn closed_form(&self) -> Option<&dyn ClosedForm<T>> {
        self.problem.closed_form()
    }
}
