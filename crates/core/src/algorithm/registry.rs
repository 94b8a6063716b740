//! The methods by name: each is a pattern times a direction.

use super::{Algorithm, PushPull, PushSum, Steps, StepsError};
use crate::direction::{Difference, Direction, Gradient, Objective, Penalty, Soba};
use crate::{Problem, Scalar};

/// A named method.
#[derive(Clone, Copy)]
pub struct Method<T> {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// Whether it solves bilevel problems; the others minimise one level.
    pub bilevel: bool,
    /// Puts it together for a problem.
    pub build: fn(&dyn Problem<T>, Options<T>) -> Built<T>,
}

/// A method put together, or why it cannot be.
pub type Built<T> = Result<Box<dyn Algorithm<T>>, StepsError>;

/// What methods can be told; each reads what concerns it.
#[derive(Clone, Debug)]
pub struct Options<T> {
    /// Steps, with schedule and momentum.
    pub steps: Steps,
    /// λ of FAB.
    pub penalty: f64,
    /// Whether FAB follows L/λ, as the published steps assume, or L.
    pub normalised: bool,
    /// The size of finite differences; none given means the cube root of the machine's precision.
    pub epsilon: Option<f64>,
    /// What single-level methods minimise.
    pub objective: Objective,
    /// The outer variable at which they do so.
    pub outer: Vec<T>,
}

impl<T> Options<T> {
    /// These steps, and the defaults of everything else.
    pub fn new(steps: Steps) -> Self {
        Self {
            steps,
            penalty: 60.0,
            normalised: true,
            epsilon: None,
            objective: Objective::default(),
            outer: Vec::new(),
        }
    }
}

/// Every method there is. A new one is a file, and a line here.
pub fn methods<T: Scalar>() -> Vec<Method<T>> {
    let method = |name, about, bilevel, build| Method { name, about, bilevel, build };
    vec![
        method("fab", "penalty directions over push-pull, the paper's method", true, |p, o| {
            push_pull(p, penalty(&o), o)
        }),
        method("dfab", "FAB without a penalty: its difference variable evolves itself", true, |p, o| {
            push_pull(p, difference(&o), o)
        }),
        method("push-pull-soba", "SOBA's second-order directions over push-pull", true, |p, o| {
            push_pull(p, soba(&o), o)
        }),
        method("push-sum-fab", "penalty directions over push-sum", true, |p, o| push_sum(p, penalty(&o), o)),
        method("push-pull", "single-level AB/push-pull", false, |p, o| push_pull(p, gradient(&o), o)),
        method("push-diging", "single-level push-sum with gradient tracking", false, |p, o| {
            push_sum(p, gradient(&o), o)
        }),
    ]
}

fn push_pull<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    options: Options<T>,
) -> Built<T> {
    Ok(Box::new(PushPull::new(problem, direction, options.steps)?))
}

fn push_sum<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    options: Options<T>,
) -> Built<T> {
    Ok(Box::new(PushSum::new(problem, direction, options.steps)?))
}

fn penalty<T>(options: &Options<T>) -> Penalty {
    if options.normalised { Penalty::new(options.penalty) } else { Penalty::literal(options.penalty) }
}

fn difference<T>(options: &Options<T>) -> Difference {
    options.epsilon.map_or_else(Difference::new, Difference::with_epsilon)
}

fn soba<T>(options: &Options<T>) -> Soba {
    options.epsilon.map_or_else(Soba::new, Soba::with_epsilon)
}

fn gradient<T: Scalar>(options: &Options<T>) -> Gradient<T> {
    Gradient::at(options.objective, options.outer.clone())
}
