//! When a run that has diverged is given up.

use std::ops::ControlFlow;

use super::observe::Stop;
use super::view::View;
use crate::Scalar;

/// Gives up a run that has diverged, after the time in which automatic step sizes may undo that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DivergenceGuard {
    /// The round from which on the run was beyond a limit whenever it was looked at.
    pub since: Option<u64>,
}

impl DivergenceGuard {
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
