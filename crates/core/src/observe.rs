//! Observers: who looks at a run from outside, and may end it.

use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use crate::algorithm::Request;
use crate::{Algorithm, Divergence, Evaluations, Kind, Level, Optimum, Problem, Scalar, Shard, ShardError, linalg};

/// Looks at a run after the start and after every round.
pub trait Observer<T: Scalar> {
    /// Goes on, or ends the run for a reason.
    fn round(&mut self, view: &View<'_, T>) -> ControlFlow<Stop>;

    /// How a run has ended that the observer did not end before the last round.
    fn last(&self, view: &View<'_, T>) -> Stop {
        Stop::RoundLimit { round: view.round }
    }
}

/// Looks away.
impl<T: Scalar> Observer<T> for () {
    fn round(&mut self, _view: &View<'_, T>) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// What was asked for is reached.
    Reached {
        /// In this round.
        round: u64,
    },
    /// All rounds are done.
    RoundLimit {
        /// This many.
        round: u64,
    },
    /// The run has diverged, see [`Divergence`].
    Diverged {
        /// Seen in this round.
        round: u64,
        /// The agent that is furthest off.
        agent: usize,
    },
}

/// Carries out rounds until an observer ends the run or the limit is reached. An epoch that the algorithm asks for is started for everyone.
pub fn run<T: Scalar>(shard: &mut Shard<T>, rounds: u64, observer: &mut dyn Observer<T>) -> Result<Stop, ShardError> {
    loop {
        if let ControlFlow::Break(stop) = observer.round(&shard.view()) {
            return Ok(stop);
        }
        if shard.view().round >= rounds {
            return Ok(observer.last(&shard.view()));
        }
        if shard.round()? == Request::Restart {
            shard.restart();
        }
    }
}

/// What observers see of a run.
#[derive(Clone, Copy)]
pub struct View<'a, T: Scalar> {
    /// Rounds carried out so far.
    pub round: u64,
    /// What is being solved.
    pub problem: &'a dyn Problem<T>,
    /// By which method.
    pub algorithm: &'a dyn Algorithm<T>,
    /// Sent so far, on average.
    pub bytes_per_agent: f64,
    /// Made so far, by all agents together.
    pub evaluations: Evaluations,
    /// The agents themselves.
    pub agents: &'a dyn Agents<T>,
}

/// The state of agents, for those who look.
pub trait Agents<T> {
    /// Which agents there are.
    fn range(&self) -> Range<usize>;
    /// An agent's row, as it is sent next.
    fn row(&self, agent: usize) -> &[T];
    /// What stays with it.
    fn keep(&self, agent: usize) -> &[T];
    /// What it contributes to pushed segments.
    fn input(&self, agent: usize) -> &[T];
}

impl<T: Scalar> View<'_, T> {
    /// An agent's point, private coordinates last.
    pub fn point(&self, agent: usize) -> Vec<T> {
        let mut point = Vec::new();
        self.write_point(agent, &mut point);
        point
    }

    /// Overwrites a vector with an agent's point, so that one serves for all.
    pub fn write_point(&self, agent: usize, point: &mut Vec<T>) {
        point.resize(self.algorithm.blocks().width() + self.problem.private(agent), T::zero());
        self.algorithm.point(self.agents.row(agent), self.agents.keep(agent), point);
    }

    /// The shared points, averaged over the agents.
    pub fn mean(&self) -> Vec<T> {
        let width = self.algorithm.blocks().width();
        let (mut mean, mut point) = (vec![T::zero(); width], Vec::new());
        for agent in self.agents.range() {
            self.write_point(agent, &mut point);
            linalg::add(&mut mean, &point[..width]);
        }
        linalg::scale(&mut mean, T::of(1.0 / self.agents.range().len() as f64));
        mean
    }

    /// `Σ pushed − Σ input`, its largest scalar: 0 up to rounding, or mass was lost or counted twice.
    pub fn mass_residual(&self) -> T {
        let segments = self.algorithm.segments(0);
        let mut sum = vec![T::zero(); segments.count(Kind::Push)];
        for agent in self.agents.range() {
            linalg::add_scaled(&mut sum, -T::one(), self.agents.input(agent));
            let mut rest = sum.as_mut_slice();
            for (_, range) in segments.iter().filter(|(segment, _)| segment.kind == Kind::Push) {
                let (part, after) = rest.split_at_mut(range.len());
                linalg::add(part, &self.agents.row(agent)[range]);
                rest = after;
            }
        }
        sum.into_iter().map(num_traits::Float::abs).fold(T::zero(), Scalar::largest)
    }

    /// `‖x̄ − x*‖/‖x*‖` of the mean point, for the outer variable, or for the inner one of a single-level problem.
    pub fn relative_error(&self, optimum: &Optimum<T>) -> T {
        self.relative_error_of(&self.mean(), optimum)
    }

    /// The same, of any shared point.
    pub fn relative_error_of(&self, point: &[T], optimum: &Optimum<T>) -> T {
        let (found, known) = (self.measured(point), optimum.measured());
        (linalg::distance_squared(found, known) / linalg::norm_squared(known)).sqrt()
    }

    /// The consensus error: how far agents are spread around their mean, in what errors are measured in.
    pub fn consensus(&self, mean: &[T]) -> f64 {
        self.spread(mean, self.measured_level())
    }

    /// The root mean square of agents' distances from their mean, in the outer or in the inner variable.
    pub fn spread(&self, mean: &[T], level: Level) -> f64 {
        let mut point = Vec::new();
        let distance = |agent| {
            self.write_point(agent, &mut point);
            linalg::distance_squared(self.variable(&point[..mean.len()], level), self.variable(mean, level)).f64()
        };
        let agents = self.agents.range();
        (agents.clone().map(distance).sum::<f64>() / agents.len() as f64).sqrt()
    }

    /// What errors are measured in: the outer variable of a shared point, or the inner one of a single-level problem.
    pub(crate) fn measured<'p>(&'p self, point: &'p [T]) -> &'p [T] {
        self.variable(point, self.measured_level())
    }

    fn measured_level(&self) -> Level {
        if self.problem.dim().outer == 0 { Level::Lower } else { Level::Upper }
    }

    fn variable<'p>(&'p self, point: &'p [T], level: Level) -> &'p [T] {
        let (x, y) = self.algorithm.direction().solution(self.problem.dim(), point);
        if level == Level::Upper { x } else { y }
    }

    /// The agent whose point is largest, one that is not finite before all others.
    pub fn furthest(&self) -> usize {
        let size = |agent: &usize| linalg::norm_squared(&self.point(*agent)).f64();
        let sized = self.agents.range().map(|agent| (size(&agent), agent));
        sized
            .fold((f64::NEG_INFINITY, 0), |best, next| {
                if best.0.total_cmp(&next.0.abs()).is_lt() { (next.0.abs(), next.1) } else { best }
            })
            .1
    }
}

/// Gives up a run that has diverged, after the time in which automatic step sizes may undo that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    /// The round from which on the run was beyond a limit whenever it was looked at.
    pub since: Option<u64>,
}

impl Patience {
    /// Whether it is time to give up a run that is seen to have diverged, or not.
    pub fn judge<T: Scalar>(&mut self, view: &View<'_, T>, diverged: bool) -> ControlFlow<Stop> {
        if !diverged {
            self.since = None;
            return ControlFlow::Continue(());
        }
        let since = *self.since.get_or_insert(view.round);
        if view.round - since < view.algorithm.recovers_within() {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(Stop::Diverged { round: view.round, agent: view.furthest() })
    }

    /// How a run has ended that has no rounds left: there is no time to undo anything.
    pub fn last<T: Scalar>(self, view: &View<'_, T>) -> Stop {
        match self.since {
            Some(_) => Stop::Diverged { round: view.round, agent: view.furthest() },
            None => Stop::RoundLimit { round: view.round },
        }
    }
}

/// Follows the relative error: notes it, and ends a run that has reached its target or has diverged.
pub struct ErrorWatch<T> {
    optimum: Optimum<T>,
    every: u64,
    below: f64,
    /// From the first look on.
    divergence: Option<Divergence<T>>,
    patience: Patience,
    /// The error, with the round, whenever it was looked at.
    pub errors: Vec<(u64, f64)>,
}

impl<T: Scalar> ErrorWatch<T> {
    /// Looks every so many rounds and never ends a run that does not diverge.
    pub fn new(optimum: Optimum<T>, every: u64) -> Self {
        let patience = Patience::default();
        Self { optimum, every, below: 0.0, divergence: None, patience, errors: Vec::new() }
    }

    /// Ends the run once the error is below this.
    pub fn until(self, below: f64) -> Self {
        Self { below, ..self }
    }

    /// The first round from which the error stays below this, if there is one.
    pub fn stays_below(&self, below: f64) -> Option<u64> {
        let last_above = self.errors.iter().rposition(|(_, error)| error.partial_cmp(&below) != Some(Ordering::Less));
        self.errors.get(last_above.map_or(0, |place| place + 1)).map(|(round, _)| *round)
    }
}

impl<T: Scalar> Observer<T> for ErrorWatch<T> {
    fn round(&mut self, view: &View<'_, T>) -> ControlFlow<Stop> {
        if !view.round.is_multiple_of(self.every) {
            return ControlFlow::Continue(());
        }
        let mean = view.mean();
        let error = view.relative_error_of(&mean, &self.optimum).f64();
        self.errors.push((view.round, error));
        let limits = self.divergence.get_or_insert_with(|| Divergence::new(Some(self.optimum.clone()), view));
        let diverged = limits.is_seen(view, &mean);
        if error < self.below && !diverged {
            return ControlFlow::Break(Stop::Reached { round: view.round });
        }
        self.patience.judge(view, diverged)
    }

    fn last(&self, view: &View<'_, T>) -> Stop {
        self.patience.last(view)
    }
}
