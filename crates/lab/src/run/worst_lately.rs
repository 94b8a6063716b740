//! The worst agent of a run, looked for from time to time.

use std::time::Duration;

use fabnet_core::{Scalar, View};

use super::agent_distances::{AgentDistances, WorstAgent};
use super::pacing::Pacing;
use super::record::RunRecord;
use super::stopwatch::Stopwatch;

/// Keeps the worst agent of a run, and looks for it again from time to time.
pub(super) struct WorstLately {
    found: Option<WorstAgent>,
    /// When to look next; none if nobody wants to know.
    pacing: Option<Pacing>,
}

impl WorstLately {
    /// The least time between two looks.
    const EVERY: Duration = Duration::from_millis(500);

    /// A run works at least this many times as long as agents are looked at.
    const WORK: u32 = 200;

    /// Looks for the worst agent only if it is wanted.
    pub(super) fn new(wanted: bool) -> Self {
        Self { found: None, pacing: wanted.then(|| Pacing::new(Self::EVERY, Self::WORK)) }
    }

    /// The worst agent, as it was found last.
    pub(super) fn look<T: Scalar>(&mut self, view: &View<'_, T>, record: &RunRecord<'_, T>) -> Option<WorstAgent> {
        if let Some(pacing) = self.pacing.as_mut().filter(|pacing| pacing.is_due()) {
            let watch = Stopwatch::start();
            self.found = AgentDistances::measure(view, record).and_then(|distances| distances.worst());
            pacing.written(watch.elapsed());
        }
        self.found
    }
}
