//! A method of the registry, and what its entries are made of.

use crate::algorithm::{
    Algorithm, Correction, Estimator, Exchanges, PushPull, PushSum, Steps, StepsError, Tracking, TwoStep,
};
use crate::direction::{Direction, DirectionKind, directions};
use crate::settings::SettingsReader;
use crate::{Problem, Scalar, Venue};

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
    /// How its exchanges and its gradient steps go together.
    pub exchanges: Exchanges,
    /// What a lost message would break for good; none if it bears losses.
    pub needs_every_message: Option<&'static str>,
    /// Reads its settings, except for step sizes.
    pub read: Read<T>,
}

impl<T> Method<T> {
    /// Reads its step sizes; none means automatic ones.
    pub fn read_steps(&self, keys: &mut SettingsReader<'_>) -> Option<Steps> {
        Steps::read(keys, self.direction.steps, self.exchanges)
    }

    /// Whether it can run where messages may be lost; if not, why.
    pub fn check_losses(&self) -> Result<(), StepsError> {
        self.needs_every_message.map_or(Ok(()), |reason| Err(StepsError::Lossy { reason }))
    }

    /// The same method, which can also exchange several times for each step, or step alone.
    pub(super) fn repeating(self) -> Self {
        Self { exchanges: Exchanges::Any, ..self }
    }

    /// The same method, which can also take several steps for each exchange.
    pub(super) fn with_steps_alone(self) -> Self {
        Self { exchanges: Exchanges::Rarer, ..self }
    }

    /// The same method, whose step sizes must be given.
    pub(super) fn with_given_steps(self) -> Self {
        Self { direction: DirectionKind { automatic: false, ..self.direction }, ..self }
    }

    /// The same method, in which a lost message breaks this for good.
    pub(super) fn needing_every_message(self, broken: &'static str) -> Self {
        Self { needs_every_message: Some(broken), ..self }
    }
}

/// Reads the settings of a method, except for step sizes.
pub type Read<T> = fn(&mut SettingsReader<'_>) -> Recipe<T>;

/// Puts a method together for a problem, with these step sizes.
pub type Recipe<T> = Box<dyn Fn(&dyn Problem<T>, Steps) -> Built<T> + Send + Sync>;

/// A method put together, or why it cannot be.
pub type Built<T> = Result<Box<dyn Algorithm<T>>, StepsError>;

/// What a lost message breaks in methods that remember earlier rounds.
pub(super) const MEMORY: &str = "what agents remember of earlier rounds cancels only if all of them took part";

/// A method that runs on the network that is asked for.
pub(super) fn method<T>(name: &'static str, about: &'static str, direction: &str, read: Read<T>) -> Method<T> {
    placed(name, about, direction, Venue::AsAsked, read)
}

/// A method that runs in its own venue.
pub(super) fn placed<T>(
    name: &'static str,
    about: &'static str,
    direction: &str,
    venue: Venue,
    read: Read<T>,
) -> Method<T> {
    let known = directions().into_iter().find(|kind| kind.name == direction);
    let direction = known.expect("methods follow registered directions");
    Method { name, about, direction, venue, exchanges: Exchanges::EachStep, needs_every_message: None, read }
}

/// Puts a direction over push-pull together.
pub(super) fn push_pull<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    steps: Steps,
) -> Built<T> {
    Ok(Box::new(PushPull::new(problem, direction, steps)?))
}

/// Puts a direction over push-sum together.
pub(super) fn push_sum<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    steps: Steps,
    tracking: Tracking,
    estimator: Estimator,
) -> Built<T> {
    let pattern = PushSum::new(problem, direction, steps)?.with_tracking(tracking);
    Ok(Box::new(pattern.with_estimator(problem, estimator)?))
}

/// Puts a direction over EXTRA or Exact Diffusion together.
pub(super) fn two_step<T: Scalar>(
    problem: &dyn Problem<T>,
    direction: impl Direction<T> + 'static,
    steps: Steps,
    correction: Correction,
) -> Built<T> {
    Ok(Box::new(TwoStep::new(problem, direction, steps, correction)?))
}

/// Reads the weight of recursive momentum.
pub(super) fn recursive(keys: &mut SettingsReader<'_>) -> Estimator {
    let about = "β of g⁺ = ∇f(z⁺; ξ) + (1 − β)(g − ∇f(z; ξ)); 1 is the plain sample";
    Estimator::Recursive { momentum: keys.number("recursive_momentum", 0.02, 0.0..=1.0, about) }
}
