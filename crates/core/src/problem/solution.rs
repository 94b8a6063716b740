//! Solutions: the one that is known, and those that agents have found.

use std::ops::Range;

/// A known solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum<T> {
    /// The shared outer variable.
    pub x: Vec<T>,
    /// The inner variable.
    pub y: Vec<T>,
    /// The private coordinates of each agent; empty where there are none.
    pub own: Vec<Vec<T>>,
}

impl<T> Optimum<T> {
    /// The variable in which errors are measured: x, or y on a single level.
    pub(crate) fn measured(&self) -> &[T] {
        if self.x.is_empty() { &self.y } else { &self.x }
    }
}

/// The solutions that agents have found so far, as a problem reads them for its metrics and
/// findings.
///
/// The problem need not know by which method they were found.
pub trait Solutions<T> {
    /// The agents whose solutions are known here.
    fn agents(&self) -> Range<usize>;

    /// The outer and the inner variable.
    fn variables(&self, of: Whose) -> (Vec<T>, Vec<T>);

    /// A named block of the point, such as `z` of penalty methods, if there is one of this name.
    fn block(&self, of: Whose, name: &str) -> Option<Vec<T>>;

    /// An agent's private coordinates.
    fn private(&self, agent: usize) -> Vec<T>;
}

/// Whose solution is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The mean over all agents.
    Mean,
    /// The solution of one agent.
    Agent(usize),
}
