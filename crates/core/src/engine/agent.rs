//! One agent: what it has between rounds, how it begins, and how it takes a step.
//!
//! Shards, peers, lossy delivery and the replay of recorded runs all begin and step agents by these
//! functions; they differ in how rows travel.

use super::layout::RowLayout;
use crate::algorithm::{Agent, Fresh, Request, SegmentKind};
use crate::{Algorithm, Oracle, Scalar, linalg};

/// What one agent has between rounds.
#[derive(Clone, Debug)]
pub struct AgentState<T> {
    /// The row, as it is sent next.
    pub row: Vec<T>,
    /// What stays with the agent, such as momentum.
    pub memory: Vec<T>,
    /// What the agent contributes to pushed segments.
    pub contribution: Vec<T>,
}

impl<T: Scalar> AgentState<T> {
    /// An agent with this many private coordinates, before its beginning: all zeros.
    pub fn new(algorithm: &dyn Algorithm<T>, private: usize) -> Self {
        let segments = algorithm.segments(private);
        let [row, memory, contribution] =
            [segments.width(), algorithm.keep(private), segments.count(SegmentKind::Push)]
                .map(|len| vec![T::zero(); len]);
        Self { row, memory, contribution }
    }

    /// The parts that an algorithm writes at a beginning.
    pub fn as_fresh(&mut self) -> Fresh<'_, T> {
        Fresh { row: &mut self.row, keep: &mut self.memory, input: &mut self.contribution }
    }
}

/// Begins an epoch at a point: pushed segments become what the agent contributes, so that
/// `Σ pushed = Σ contributions` holds from the start.
pub fn begin<T: Scalar>(
    algorithm: &dyn Algorithm<T>,
    layout: &RowLayout,
    point: &[T],
    agent: Fresh<'_, T>,
    oracle: &mut Oracle<'_, T>,
) {
    let Fresh { row, keep, input } = agent;
    algorithm.begin(point, Fresh { row: &mut *row, keep, input: &mut *input }, oracle);
    for span in layout.pushed() {
        row[span.row.clone()].copy_from_slice(&input[span.input.clone()]);
    }
}

/// Takes a step. `agent.next` arrives mixed, less the old contribution in its pushed segments; the
/// new contribution is added, so that `Σ pushed = Σ contributions` still holds.
#[inline]
pub fn step<T: Scalar>(
    algorithm: &dyn Algorithm<T>,
    layout: &RowLayout,
    agent: Agent<'_, T>,
    oracle: &mut Oracle<'_, T>,
) -> Request {
    let Agent { now, next, keep, input } = agent;
    let request = algorithm.step(Agent { now, next: &mut *next, keep, input: &mut *input }, oracle);
    for span in layout.pushed() {
        linalg::add(&mut next[span.row.clone()], &input[span.input.clone()]);
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{PushPull, Steps};
    use crate::direction::Gradient;
    use crate::{Dim, GradientMut, Level, Point, Problem, Scratch, Work};

    /// One agent with g(y) = y²/2.
    struct Bowl;

    impl Problem<f64> for Bowl {
        fn agents(&self) -> usize {
            1
        }

        fn dim(&self) -> Dim {
            Dim { outer: 0, inner: 2 }
        }

        fn start(&self, _agent: usize, _own: &mut [f64], _x: &mut [f64], y: &mut [f64]) {
            y.fill(3.0);
        }

        fn add_gradient(&self, _: Level, at: Point<'_, f64>, to: GradientMut<'_, f64>, _: &mut Scratch<f64>) {
            linalg::add_scaled(to.y, to.scale.1, at.y);
        }

        fn value(&self, _: Level, at: Point<'_, f64>) -> f64 {
            0.5 * linalg::norm_squared(at.y)
        }
    }

    /// The pushed segments of a row, less what is contributed to them.
    fn residual(layout: &RowLayout, row: &[f64], contribution: &[f64]) -> Vec<f64> {
        let pushed = layout.pushed().flat_map(|span| &row[span.row.clone()]);
        pushed.zip(contribution).map(|(mass, level)| mass - level).collect()
    }

    #[test]
    fn mass_is_what_is_contributed_after_a_beginning_another_one_and_a_step() {
        let algorithm = PushPull::new(&Bowl, Gradient::default(), Steps::same(0.1)).expect("valid step sizes");
        let layout = RowLayout::new(&algorithm.segments(0));
        let (mut state, mut work) = (AgentState::new(&algorithm, 0), Work::default());
        for _ in 0..2 {
            let mut oracle = Oracle::new(&Bowl, 0, 0, 0, &mut work);
            let point = algorithm.starting_point(&Bowl, 0);
            begin(&algorithm, &layout, &point, state.as_fresh(), &mut oracle);
            assert_eq!(residual(&layout, &state.row, &state.contribution), [0.0; 2]);
            assert_ne!(state.contribution, [0.0; 2]);
        }
        let AgentState { row, mut memory, mut contribution } = state;
        let mut next = row.clone();
        for span in layout.pushed() {
            linalg::add_scaled(&mut next[span.row.clone()], -1.0, &contribution[span.input.clone()]);
        }
        let agent = Agent { now: &row, next: &mut next, keep: &mut memory, input: &mut contribution };
        step(&algorithm, &layout, agent, &mut Oracle::new(&Bowl, 0, 0, 0, &mut work));
        assert_eq!(residual(&layout, &next, &contribution), [0.0; 2]);
        assert_ne!(next, row, "the step moves the agent");
    }
}
