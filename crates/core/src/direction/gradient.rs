//! The gradient of a single-level objective.

use super::{Direction, Parts, PartsMut, StepSizes};
use crate::settings::SettingsReader;
use crate::{Blocks, Dim, Objective, Oracle, Problem, ProblemExt, Scalar, Smoothness};

/// The gradient in y of a single-level objective, at an outer variable that is held fixed.
///
/// On a single-level problem that is simply its gradient; on a bilevel one, the objective says what
/// to minimise.
#[derive(Clone, Debug)]
pub struct Gradient<T> {
    objective: Objective,
    outer: Vec<T>,
}

impl<T: Scalar> Gradient<T> {
    /// The gradient of a single-level problem.
    pub fn new() -> Self {
        Self::at(Objective::Train, Vec::new())
    }

    /// The gradient of an objective of a bilevel problem at this outer variable.
    pub fn at(objective: Objective, outer: Vec<T>) -> Self {
        Self { objective, outer }
    }

    /// What users can choose, to be completed by the problem.
    pub fn read(keys: &mut SettingsReader<'_>) -> impl Fn(&dyn Problem<T>) -> Self + Send + Sync + 'static {
        let objectives = [("train", Objective::Train), ("merged", Objective::Merged), ("clean", Objective::Clean)];
        let objective = keys.choice("objective", &objectives, "what to minimise on a bilevel problem: g, f + g or f");
        let everywhere =
            "the outer variable of a bilevel problem, one value for all its coordinates; where it starts if not given";
        let outer = keys.optional_number("outer", .., everywhere);
        move |problem| {
            let (_, mut x, _) = problem.starting_point(0);
            if let Some(value) = outer {
                x.fill(T::of(value));
            }
            Self::at(objective, x)
        }
    }
}

impl<T: Scalar> Default for Gradient<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Scalar> Direction<T> for Gradient<T> {
    fn blocks(&self, dim: Dim) -> Blocks {
        assert_eq!(
            self.outer.len(),
            dim.outer,
            "a single-level method needs a fixed outer variable of the problem's size"
        );
        // Users of single-level methods call their variable x.
        Blocks::new([("x", dim.inner)])
    }

    fn start(&self, _x: &[T], y: &[T], v: &mut [T]) {
        v.copy_from_slice(y);
    }

    fn solution<'a>(&'a self, _dim: Dim, v: &'a [T]) -> (&'a [T], &'a [T]) {
        (&self.outer, v)
    }

    fn eval(&self, at: Parts<'_, T>, oracle: &mut Oracle<'_, T>, mut d: PartsMut<'_, T>) {
        d.fill(T::zero()); // the private coordinates stay where they are
        oracle.add_objective(self.objective, at.own, &self.outer, at.shared, d.shared);
    }

    fn bound(&self, smoothness: &Smoothness) -> Option<f64> {
        Some(match self.objective {
            Objective::Train => smoothness.g_yy,
            Objective::Merged => smoothness.f_yy + smoothness.g_yy,
            Objective::Clean => smoothness.f_yy,
        })
    }

    fn step_sizes(&self, _smoothness: &Smoothness, [.., z]: StepSizes) -> StepSizes {
        [z, 0.0, 0.0]
    }
}
