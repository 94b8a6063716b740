//! One agent of a real run, as its node sees it.

use std::ops::Range;

use fabnet_core::observe::Agents;
use fabnet_core::{Peer, Scalar, View};

use crate::setup::Setup;

/// An agent that nobody else is seen with.
pub(crate) struct Alone<'a, T: Scalar>(pub(crate) &'a Peer<T>);

impl<T: Scalar> Alone<'_, T> {
    /// What observers see of it.
    pub(crate) fn view<'v>(&'v self, setup: &'v Setup<T>) -> View<'v, T> {
        View {
            round: self.0.round(),
            problem: &*setup.problem,
            algorithm: &*setup.algorithm,
            bytes_per_agent: 0.0,
            evaluations: self.0.work().evaluations,
            agents: self,
        }
    }
}

impl<T: Scalar> Agents<T> for Alone<'_, T> {
    fn range(&self) -> Range<usize> {
        let node = self.0.node() as usize;
        node..node + 1
    }

    fn row(&self, _agent: usize) -> &[T] {
        self.0.row()
    }

    fn keep(&self, _agent: usize) -> &[T] {
        self.0.keep()
    }

    fn input(&self, _agent: usize) -> &[T] {
        self.0.input()
    }
}
