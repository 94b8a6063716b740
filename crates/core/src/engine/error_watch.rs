//! An observer that follows the relative error.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::divergence::Divergence;
use super::divergence_guard::DivergenceGuard;
use super::observe::{Observer, Stop};
use super::view::View;
use crate::{Optimum, Scalar};

/// Follows the relative error: notes it, and ends a run that has reached its target or has
/// diverged.
pub struct ErrorWatch<T> {
    optimum: Optimum<T>,
    every: u64,
    below: f64,
    /// The limits of divergence, known from the first look on.
    divergence: Option<Divergence<T>>,
    patience: DivergenceGuard,
    /// The error, with the round, whenever it was looked at.
    pub errors: Vec<(u64, f64)>,
}

impl<T: Scalar> ErrorWatch<T> {
    /// Looks every `every` rounds and ends only runs that diverge.
    pub fn new(optimum: Optimum<T>, every: u64) -> Self {
        let patience = DivergenceGuard::default();
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
