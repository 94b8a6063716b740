//! The methods by name: each is a pattern times a direction.

use super::{Algorithm, PushPull, PushSum, Steps, StepsError};
use crate::direction::{Difference, Direction, DirectionKind, Gradient, Penalty, Soba, directions};
use crate::settings::Keys;
use crate::{Problem, Scalar};

/// A named method.
#[derive(Clone, Copy)]
pub struct Method<T> {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// What it follows.
    pub direction: DirectionKind,
    /// Asks for its settings, steps apart.
    pub read: fn(&mut Keys<'_>) -> Recipe<T>,
}

/// Puts a method together for a problem, with these steps.
pub type Recipe<T> = Box<dyn Fn(&dyn Problem<T>, Steps) -> Built<T> + Send + Sync>;

/// A method put together, or why it cannot be.
pub type Built<T> = Result<Box<dyn Algorithm<T>>, StepsError>;

/// Every method there is. A new one is a file, and a line here.
pub fn methods<T: Scalar>() -> Vec<Method<T>> {
    let known = directions();
    let method = |name, about, direction: &str, read| {
        let direction =
            *known.iter().find(|kind| kind.name == direction).expect("methods follow registered directions");
        Method { name, about, direction, read }
    };
    vec![
        method("fab", "penalty directions over push-pull, the paper's method", "penalty", |keys| {
            let direction = Penalty::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        }),
        method("dfab", "FAB without a penalty: its difference variable evolves itself", "difference", |keys| {
            let direction = Difference::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        }),
        method("push-pull-soba", "SOBA's second-order directions over push-pull", "soba", |keys| {
            let direction = Soba::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        }),
        method("push-sum-fab", "penalty directions over push-sum", "penalty", |keys| {
            let direction = Penalty::read(keys);
            Box::new(move |problem, steps| push_sum(problem, direction, steps))
        }),
        method("push-pull", "single-level AB/push-pull", "gradient", |keys| {
            let direction = Gradient::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction(problem), steps))
        }),
        method("push-diging", "single-level push-sum with gradient tracking", "gradient", |keys| {
            let direction = Gradient::read(keys);
            Box::new(move |problem, steps| push_sum(problem, direction(problem), steps))
        }),
    ]
}

fn push_pull<T: Scalar>(problem: &dyn Problem<T>, direction: impl Direction<T> + 'static, steps: Steps) -> Built<T> {
    Ok(Box::new(PushPull::new(problem, direction, steps)?))
}

fn push_sum<T: Scalar>(problem: &dyn Problem<T>, direction: impl Direction<T> + 'static, steps: Steps) -> Built<T> {
    Ok(Box::new(PushSum::new(problem, direction, steps)?))
}
