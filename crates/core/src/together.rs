//! Functions that are evaluated for all agents at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Curvature, Dim, Level, Point, Problem, Scalar, Scratch, Slopes, linalg};

/// Evaluates the functions of many agents in one call: one border to another language is crossed, or one product of matrices is made.
pub trait Together<T: Scalar>: Send + Sync {
    /// Answers questions of one level, each with the gradients at its point.
    fn answer(&self, level: Level, questions: &mut [&mut Question<T>]);

    /// The values of one level at points.
    fn values(&self, level: Level, points: &[Point<'_, T>]) -> Vec<T>;
}

/// Where an agent's function is to be evaluated, and its gradients there.
#[derive(Clone, Debug)]
pub struct Question<T> {
    /// Whose function.
    pub agent: usize,
    /// In which round.
    pub round: u64,
    /// The agent's own outer coordinates.
    pub own: Vec<T>,
    /// The shared outer variable.
    pub x: Vec<T>,
    /// The inner variable.
    pub y: Vec<T>,
    /// The gradients in the three, to be overwritten.
    pub slopes: [Vec<T>; 3],
}

impl<T: Scalar> Question<T> {
    /// At this point.
    pub fn new(at: Point<'_, T>) -> Self {
        let slopes = [at.own, at.x, at.y].map(|point| vec![T::zero(); point.len()]);
        let [own, x, y] = [at.own, at.x, at.y].map(<[T]>::to_vec);
        Self { agent: at.agent, round: at.round, own, x, y, slopes }
    }

    /// Whether it is at this point. What has run away is the same everywhere: it is not asked for again and again.
    fn is_at(&self, at: Point<'_, T>) -> bool {
        let same =
            |a: &[T], b: &[T]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
        self.round == at.round && same(&self.own, at.own) && same(&self.x, at.x) && same(&self.y, at.y)
    }

    /// Adds the gradients, once they are there.
    pub fn add_to(&self, to: Slopes<'_, T>) {
        let (outer, inner) = to.scale;
        let [own, x, y] = &self.slopes;
        for (to, scale, slope) in [(to.own, outer, own), (to.x, outer, x), (to.y, inner, y)] {
            if !to.is_empty() {
                linalg::add_scaled(to, scale, slope);
            }
        }
    }
}

/// All that is asked for in one round: it is rehearsed, with nothing for an answer, until nobody asks for anything new.
pub(crate) struct Script<T> {
    parts: Vec<Mutex<Part<T>>>,
    first: usize,
    complete: AtomicBool,
}

/// What one agent asks for, in order.
struct Part<T> {
    lines: Vec<Line<T>>,
    asked: usize,
}

struct Line<T> {
    question: Question<T>,
    level: Level,
    answered: bool,
}

impl<T: Scalar> Script<T> {
    /// For so many agents, from this one on.
    pub(crate) fn new(first: usize, agents: usize) -> Self {
        let part = || Mutex::new(Part { lines: Vec::new(), asked: 0 });
        Self { parts: std::iter::repeat_with(part).take(agents).collect(), first, complete: AtomicBool::new(false) }
    }

    /// Before a rehearsal.
    pub(crate) fn begin(&mut self) {
        *self.complete.get_mut() = true;
        self.parts.iter_mut().for_each(|part| unlocked(part).asked = 0);
    }

    /// After it: whether everything that was asked for had an answer. If not, it is answered.
    pub(crate) fn is_complete(&mut self, together: &dyn Together<T>) -> bool {
        if *self.complete.get_mut() {
            return true;
        }
        let longest = self.parts.iter_mut().map(|part| unlocked(part).asked).max().unwrap_or(0);
        for place in 0..longest {
            for level in [Level::Upper, Level::Lower] {
                let open = |part| {
                    let Part { lines, asked } = unlocked(part);
                    let line = lines[..*asked].get_mut(place).filter(|line| !line.answered && line.level == level)?;
                    line.answered = true;
                    Some(&mut line.question)
                };
                let mut questions: Vec<_> = self.parts.iter_mut().filter_map(open).collect();
                if !questions.is_empty() {
                    together.answer(level, &mut questions);
                }
            }
        }
        false
    }

    fn ask(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>) {
        let mut part = self.parts[at.agent - self.first].lock().unwrap_or_else(PoisonError::into_inner);
        let Part { lines, asked } = &mut *part;
        let place = *asked;
        *asked += 1;
        match lines.get_mut(place) {
            Some(line) if line.answered && line.level == level && line.question.is_at(at) => {
                return line.question.add_to(to);
            }
            Some(line) => {
                (line.level, line.answered, line.question.round) = (level, false, at.round);
                let Question { own, x, y, .. } = &mut line.question;
                for (to, from) in [(own, at.own), (x, at.x), (y, at.y)] {
                    to.clear();
                    to.extend_from_slice(from);
                }
            }
            None => lines.push(Line { question: Question::new(at), level, answered: false }),
        }
        self.complete.store(false, Ordering::Relaxed);
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
        self.script.ask(level, at, to);
    }

    fn value(&self, level: Level, at: Point<'_, T>) -> T {
        self.problem.value(level, at)
    }

    fn batches(&self, agent: usize) -> usize {
        self.problem.batches(agent)
    }

    fn batch(&self, agent: usize, round: u64) -> usize {
        self.problem.batch(agent, round)
    }

    fn noisy(&self) -> bool {
        self.problem.noisy()
    }

    fn curvature(&self) -> Option<&dyn Curvature<T>> {
        self.problem.curvature()
    }
}
