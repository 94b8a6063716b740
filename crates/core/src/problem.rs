//! What is to be solved: `Σ fᵢ(x, y*(x))/n` over x, where y*(x) minimises `Σ gᵢ(x, y)/n`.

use crate::{Finding, Scalar, Scratch, Together, View};

/// A bilevel problem, shared by its agents. A single-level problem has no outer variable: its objective is the lower level.
///
/// Everything is a pure function: the batch and the noise of an evaluation are functions of (seed, agent, round).
pub trait Problem<T: Scalar>: Send + Sync {
    /// How many agents hold a part of it.
    fn agents(&self) -> usize;

    /// The sizes of the shared variables.
    fn dim(&self) -> Dim;

    /// Outer coordinates that are this agent's own: they enter its functions only and never leave it. Data is split unevenly, so their number may differ.
    fn private(&self, _agent: usize) -> usize {
        0
    }

    /// Writes the starting point; it arrives as zeros.
    fn start(&self, _agent: usize, _own: &mut [T], _x: &mut [T], _y: &mut [T]) {}

    /// Where an agent starts: its own coordinates, x and y.
    fn starting_point(&self, agent: usize) -> (Vec<T>, Vec<T>, Vec<T>) {
        let Dim { outer, inner } = self.dim();
        let [mut own, mut x, mut y] = [self.private(agent), outer, inner].map(|len| vec![T::zero(); len]);
        self.start(agent, &mut own, &mut x, &mut y);
        (own, x, y)
    }

    /// Whether any agent has coordinates of its own.
    fn has_private(&self) -> bool {
        (0..self.agents()).any(|agent| self.private(agent) > 0)
    }

    /// Adds the scaled gradient of `fᵢ` (upper) or `gᵢ` (lower) at a point.
    fn add_gradient(&self, level: Level, at: Point<'_, T>, to: Slopes<'_, T>, scratch: &mut Scratch<T>);

    /// `fᵢ` or `gᵢ` at a point.
    fn value(&self, level: Level, at: Point<'_, T>) -> T;

    /// Adds the scaled gradient in y of what a single-level method minimises here, at the outer variables of the point.
    fn add_objective(&self, objective: Objective, at: Point<'_, T>, scale: T, y: &mut [T], scratch: &mut Scratch<T>) {
        let scale = (T::zero(), scale);
        for &level in objective.levels() {
            self.add_gradient(level, at, Slopes { scale, own: &mut [], x: &mut [], y: &mut *y }, scratch);
        }
    }

    /// What an agent would need to take part, and is not here: its data may be on another machine.
    fn missing(&self, _agent: usize) -> Option<String> {
        None
    }

    /// What an agent's inputs range over, where it prepared them itself: nothing else shows that one site's are on another scale.
    fn data_range(&self, _agent: usize) -> Option<DataRange> {
        None
    }

    /// Whether it has an outer variable, shared or private.
    fn is_bilevel(&self) -> bool {
        self.dim().outer > 0 || self.has_private()
    }

    /// The most mini-batches that any agent has.
    fn most_batches(&self) -> usize {
        (0..self.agents()).map(|agent| self.batches(agent)).max().unwrap_or(1)
    }

    /// How many fixed mini-batches an agent's data is divided into; an evaluation in a round sees one of them.
    fn batches(&self, _agent: usize) -> usize {
        1
    }

    /// Which of them a round shows an agent.
    fn batch(&self, _agent: usize, _round: u64) -> usize {
        0
    }

    /// A measurement of its own, such as an accuracy, by its name in the registry.
    fn measure(&self, _metric: &str, _view: &View<'_, T>) -> Option<f64> {
        None
    }

    /// What people want to see of a run beside its numbers, such as suspected samples, ranked.
    fn findings(&self, _view: &View<'_, T>) -> Vec<Finding> {
        Vec::new()
    }

    /// The tensors that y consists of, in order, where y holds the parameters of a model.
    fn tensors(&self) -> Vec<Tensor> {
        Vec::new()
    }

    /// Whether gradients are random: methods that suffer from noise then act with more care.
    fn noisy(&self) -> bool {
        false
    }

    /// Bytes of the data that all agents hold, for resource estimates; 0 where a problem has little
    /// or does not say.
    fn data_bytes(&self) -> usize {
        0
    }

    /// A way to evaluate all agents at once, where that is cheaper than one after the other.
    fn together(&self) -> Option<&dyn Together<T>> {
        None
    }

    /// Exact second-order products, where the problem has them.
    fn curvature(&self) -> Option<&dyn Curvature<T>> {
        None
    }

    /// The solution, where it is known.
    fn optimum(&self) -> Option<Optimum<T>> {
        None
    }

    /// `y*(x)` and `∇F*(x)` in closed form, where there is one; [`crate::hypergradient`] solves for them otherwise.
    fn closed_form(&self) -> Option<&dyn ClosedForm<T>> {
        None
    }
}

/// Exact products with the second derivatives of the lower level, for SOBA.
pub trait Curvature<T: Scalar>: Send + Sync {
    /// Adds the scaled `∇²ₓᵧgᵢ·v` to the outer slopes and `∇²ᵧᵧgᵢ·v` to the inner one.
    fn add_product(&self, at: Point<'_, T>, v: &[T], to: Slopes<'_, T>, scratch: &mut Scratch<T>);
}

/// What a problem without private coordinates may know of itself.
pub trait ClosedForm<T: Scalar>: Send + Sync {
    /// `y*(x)`.
    fn response(&self, x: &[T], y: &mut [T]);

    /// `∇F*(x)`.
    fn hypergradient(&self, x: &[T], out: &mut [T]);
}

/// The sizes of the shared variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Scalars of the shared outer variable x; 0 for a single-level problem.
    pub outer: usize,
    /// Scalars of the inner variable y.
    pub inner: usize,
}

/// A tensor among the parameters of a model, as other programs know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name there.
    pub name: String,
    /// Its extents there.
    pub shape: Vec<usize>,
    /// Whether it is a matrix that y holds transposed: column by column.
    pub transposed: bool,
}

impl Tensor {
    /// How many scalars it has.
    pub fn scalars(&self) -> usize {
        self.shape.iter().product()
    }

    /// Its scalars row by row, from those that y holds.
    pub fn rows<T: Copy>(&self, held: &[T]) -> Vec<T> {
        match (self.transposed, &*self.shape) {
            (true, &[rows, columns]) => {
                (0..rows * columns).map(|place| held[place % columns * rows + place / columns]).collect()
            }
            _ => held.to_vec(),
        }
    }
}

/// The upper level f or the lower level g.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// f.
    Upper,
    /// g.
    Lower,
}

/// What a single-level method minimises on a bilevel problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The lower level g: the (noisy) training data. The only one of a single-level problem.
    #[default]
    Train,
    /// f + g: training and validation data together.
    Merged,
    /// The upper level f: the clean validation data.
    Clean,
}

impl Objective {
    /// The levels it consists of, where a problem does not say otherwise.
    pub fn levels(self) -> &'static [Level] {
        match self {
            Self::Train => &[Level::Lower],
            Self::Merged => &[Level::Upper, Level::Lower],
            Self::Clean => &[Level::Upper],
        }
    }
}

/// Where, by whom and when a function is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, T> {
    /// Whose function.
    pub agent: usize,
    /// Together with the agent, this names the batch and the noise.
    pub round: u64,
    /// The agent's own outer coordinates.
    pub own: &'a [T],
    /// The shared outer variable.
    pub x: &'a [T],
    /// The inner variable.
    pub y: &'a [T],
}

/// Where scaled gradients are added to. An empty slice is a part that is not wanted and need not be computed.
#[derive(Debug)]
pub struct Slopes<'a, T> {
    /// Factors of the outer (shared and own) and the inner part: FAB takes −∇ₓg and +∇ᵧg at z in one pass.
    pub scale: (T, T),
    /// For the agent's own outer coordinates.
    pub own: &'a mut [T],
    /// For x.
    pub x: &'a mut [T],
    /// For y.
    pub y: &'a mut [T],
}

/// What the scalars of an agent's samples range over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataRange {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The root of the mean square.
    pub rms: f64,
}

/// A known solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum<T> {
    /// The shared outer variable.
    pub x: Vec<T>,
    /// The inner variable.
    pub y: Vec<T>,
    /// The private coordinates, agent by agent; empty where there are none.
    pub own: Vec<Vec<T>>,
}

impl<T> Optimum<T> {
    /// What errors are measured in: x, or y on a single level.
    pub(crate) fn measured(&self) -> &[T] {
        if self.x.is_empty() { &self.y } else { &self.x }
    }
}
