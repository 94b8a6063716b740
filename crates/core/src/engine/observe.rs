//! Observers: who looks at a run from outside, and may end it.

use std::ops::ControlFlow;

use super::view::View;
use crate::Scalar;

/// Looks at a run after the start and after every round.
pub trait Observer<T: Scalar> {
    /// Goes on, or ends the run for a reason.
    fn round(&mut self, view: &View<'_, T>) -> ControlFlow<Stop>;

    /// How a run has ended that the observer did not end before the last round.
    fn last(&self, view: &View<'_, T>) -> Stop {
        Stop::RoundLimit { round: view.round }
    }
}

/// Observes nothing and never ends a run.
impl<T: Scalar> Observer<T> for () {
    fn round(&mut self, _view: &View<'_, T>) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The target has been reached.
    Reached {
        /// The round in which it was reached.
        round: u64,
    },
    /// All rounds are done.
    RoundLimit {
        /// The number of rounds.
        round: u64,
    },
    /// The run has diverged, see [`Divergence`](crate::Divergence).
    Diverged {
        /// The round in which this was seen.
        round: u64,
        /// The agent that is furthest off.
        agent: usize,
    },
}
