//! The methods by name: each is a pattern times a direction, in its venue.

use super::{Algorithm, Estimator, Gossip, PushPull, PushSum, Steps, StepsError, Tracker, Tracking};
use crate::direction::{Difference, Direction, DirectionKind, Gradient, Itd, Penalty, Soba, directions};
use crate::settings::SettingsReader;
use crate::{Problem, ProblemExt, Scalar, Venue};

/// A method of the registry, by its name.
#[derive(Clone, Copy)]
pub struct Method<T> {
    /// The name, as users write it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The direction that it follows.
    pub direction: DirectionKind,
    /// The network on which it runs.
    pub venue: Venue,
    /// Whether it can mix several times for each step.
    pub repeats_mixing: bool,
    /// Reads its settings, except for step sizes.
    pub read: Read<T>,
}

impl<T> Method<T> {
    /// Reads its step sizes; none means automatic ones.
    pub fn read_steps(&self, keys: &mut SettingsReader<'_>) -> Option<Steps> {
        Steps::read(keys, self.direction.steps, self.repeats_mixing)
    }

    /// The same method, which can mix several times for each step.
    fn repeating(self) -> Self {
        Self { repeats_mixing: true, ..self }
    }
}

/// Reads the settings of a method, except for step sizes.
pub type Read<T> = fn(&mut SettingsReader<'_>) -> Recipe<T>;

/// Puts a method together for a problem, with these step sizes.
pub type Recipe<T> = Box<dyn Fn(&dyn Problem<T>, Steps) -> Built<T> + Send + Sync>;

/// A method put together, or why it cannot be.
pub type Built<T> = Result<Box<dyn Algorithm<T>>, StepsError>;

/// Every method there is. A new one is a file, and a line in one of these groups.
pub fn methods<T: Scalar>() -> Vec<Method<T>> {
    [bilevel(), single_level(), double_loops()].into_iter().flatten().collect()
}

/// Bilevel methods with one loop.
fn bilevel<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("fab", "penalty directions over push-pull, the paper's method (arXiv 2605.06328)", "penalty", fab)
            .repeating(),
        method(
            "dfab",
            "SOBA over push-pull with curvature by differences of gradients: first order, no penalty",
            "difference",
            |keys| {
                let direction = Difference::read(keys);
                Box::new(move |problem, steps| push_pull(problem, direction, steps))
            },
        )
        .repeating(),
        method("push-pull-soba", "SOBA's second-order directions over push-pull", "soba", |keys| {
            let direction = Soba::read(keys);
            Box::new(move |problem, steps| push_pull(problem, direction, steps))
        })
        .repeating(),
        method("push-sum-fab", "penalty directions over push-sum", "penalty", |keys| {
            let direction = Penalty::read(keys);
            Box::new(move |problem, steps| {
                push_sum(problem, direction, steps, Tracking::StepThenMix, Estimator::Sample)
            })
        }),
        placed("static-fab", "FAB on the graph of round 0, for ever", "penalty", Venue::Static, fab).repeating(),
        placed("centralized-fab", "FAB (F²SA) by one agent that holds everything", "penalty", Venue::Central, fab),
    ]
}

/// Methods for problems with one level.
fn single_level<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("push-pull", "single-level AB/push-pull", "gradient", |keys| {
            let tracker = keys.choice("tracker", &Tracker::NAMES, "t⁺ = B t + d⁺ − d, or t⁺ = B (t + d⁺ − d)");
            let ordered = keys.given("steps.order").is_some();
            let direction = Gradient::read(keys);
            Box::new(move |problem, steps| {
                let steps = if ordered { steps } else { steps.order(tracker) };
                push_pull(problem, direction(problem), steps)
            })
        })
        .repeating(),
        method("subgradient-push", "single-level push-sum without tracking", "gradient", |keys| {
            single(keys, Tracking::None, Estimator::Sample)
        }),
        method("push-sgd", "the same recursion, by its other name: stochastic gradient push", "gradient", |keys| {
            single(keys, Tracking::None, Estimator::Sample)
        }),
        method("push-diging", "single-level push-sum with gradient tracking", "gradient", |keys| {
            let orders = [("push-diging", Tracking::StepThenMix), ("add-opt", Tracking::MixThenStep)];
            let order = keys.choice("order", &orders, "u⁺ = B (u − η t), or u⁺ = B u − η t");
            single(keys, order, Estimator::Sample)
        }),
        method("push-saga", "ADD-OPT with SAGA's table of gradients", "gradient", |keys| {
            let about = "with a tracker as in ADD-OPT, or with false as Push-SGD";
            let tracking = if keys.flag("tracking", true, about) { Tracking::MixThenStep } else { Tracking::None };
            single(keys, tracking, Estimator::Saga)
        }),
        method("push-asgd", "Push-DIGing with recursive momentum (reading unconfirmed)", "gradient", |keys| {
            let estimator = recursive(keys);
            single(keys, Tracking::StepThenMix, estimator)
        }),
        placed(
            "d-psgd",
            "averaging with neighbours, no tracking: the undirected reference",
            "gradient",
            Venue::Undirected,
            |keys| {
                let direction = Gradient::read(keys);
                Box::new(move |problem, steps| Ok(Box::new(Gossip::new(problem, direction(problem), steps)?)))
            },
        ),
    ]
}

/// Bilevel methods with a double loop.
fn double_loops<T: Scalar>() -> Vec<Method<T>> {
    vec![
        method("dl-push-pull", "a double loop with iterative differentiation over push-pull", "itd", |keys| {
            let inner = Itd::read(keys);
            Box::new(move |problem, steps| push_pull(problem, Itd, double_loop(problem, steps, inner)?))
        }),
        method("dl-push-sgd", "a double loop with iterative differentiation over Push-SGD", "itd", |keys| {
            double(keys, Tracking::None, Estimator::Sample)
        }),
        method("dl-push-saga", "a double loop with iterative differentiation over Push-SAGA", "itd", |keys| {
            double(keys, Tracking::MixThenStep, Estimator::Saga)
        }),
        method("dl-push-asgd", "a double loop with iterative differentiation over Push-ASGD", "itd", |keys| {
            let estimator = recursive(keys);
            double(keys, Tracking::StepThenMix, estimator)
        }),
    ]
}

/// A method that runs on the network that is asked for.
fn method<T>(name: &'static str, about: &'static str, direction: &str, read: Read<T>) -> Method<T> {
    placed(name, about, direction, Venue::AsAsked, read)
}

/// A method that runs in its own venue.
fn placed<T>(name: &'static str, about: &'static str, direction: &str, venue: Venue, read: Read<T>) -> Method<T> {
    let known = directions().into_iter().find(|kind| kind.name == direction);
    let direction = known.expect("methods follow registered directions");
    Method { name, about, direction, venue, repeats_mixing: false, read }
}

fn fab<T: Scalar>(keys: &mut SettingsReader<'_>) -> Recipe<T> {
    let direction = Penalty::read(keys);
    Box::new(move |problem, steps| push_pull(problem, direction, steps))
}

/// Builds a single-level method over push-sum.
fn single<T: Scalar>(keys: &mut SettingsReader<'_>, tracking: Tracking, estimator: Estimator) -> Recipe<T> {
    let direction = Gradient::read(keys);
    Box::new(move |problem, steps| push_sum(problem, direction(problem), steps, tracking, estimator))
}

/// Builds a double loop over push-sum.
fn double<T: Scalar>(keys: &mut SettingsReader<'_>, tracking: Tracking, estimator: Estimator) -> Recipe<T> {
    let inner = Itd::read(keys);
    Box::new(move |problem, steps| push_sum(problem, Itd, double_loop(problem, steps, inner)?, tracking, estimator))
}

fn double_loop<T: Scalar>(problem: &dyn Problem<T>, steps: Steps, inner_rounds: u64) -> Result<Steps, StepsError> {
    let dim = problem.dim();
    if dim.outer.saturating_mul(dim.inner) > Itd::LARGEST {
        return Err(StepsError::Sensitivity { outer: dim.outer, inner: dim.inner });
    }
    if problem.has_private() {
        return Err(StepsError::Private);
    }
    Ok(steps.double_loop(inner_rounds))
}

fn recursive(keys: &mut SettingsReader<'_>) -> Estimator {
    let about = "β of g⁺ = ∇f(z⁺; ξ) + (1 − β)(g − ∇f(z; ξ)); 1 is the plain sample";
    Estimator::Recursive { momentum: keys.number("recursive_momentum", 0.02, 0.0..=1.0, about) }
}

fn push_pull<T: Scalar>(problem: &dyn Problem<T>, direction: impl Direction<T> + 'static, steps: Steps) -> Built<T> {
    Ok(Box::new(PushPull::new(problem, direction, steps)?))
}

fn push_sum<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    steps: Steps,
    tracking: Tracking,
    estimator: Estimator,
) -> Built<T> {
    let pattern = PushSum::new(problem, direction, steps)?.with_tracking(tracking);
    Ok(Box::new(pattern.with_estimator(problem, estimator)?))
}
