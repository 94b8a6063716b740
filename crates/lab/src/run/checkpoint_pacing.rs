//! When a run writes its next checkpoint.

use std::time::Duration;

use super::stopwatch::Stopwatch;

/// Decides when a run writes its next checkpoint. Between two of them there is at least the time
/// that was asked for, and at least [`Self::WORK`] times as long as the last one took. So
/// checkpoints take at most 1/21 of the time, however large they are.
pub(super) struct CheckpointPacing {
    /// The time that was asked for.
    least: Duration,
    /// How long the last checkpoint took.
    cost: Duration,
    /// The time since the last checkpoint.
    since: Stopwatch,
}

impl CheckpointPacing {
    /// A run works at least this many times as long as it writes.
    const WORK: u32 = 20;

    /// Checkpoints with at least this time in between. Zero means one after every record, whatever
    /// it costs.
    pub(super) fn new(least: Duration) -> Self {
        Self { least, cost: Duration::ZERO, since: Stopwatch::start() }
    }

    /// Whether a checkpoint is due.
    pub(super) fn is_due(&self) -> bool {
        self.is_due_after(self.since.elapsed())
    }

    fn is_due_after(&self, elapsed: Duration) -> bool {
        self.least.is_zero() || elapsed >= self.least.max(self.cost.saturating_mul(Self::WORK))
    }

    /// Notes that a checkpoint was written just now, and how long it took.
    pub(super) fn written(&mut self, cost: Duration) {
        (self.cost, self.since) = (cost, Stopwatch::start());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_wait_for_the_time_asked_for_and_for_twenty_times_their_cost() {
        let milliseconds = Duration::from_millis;
        let mut pacing = CheckpointPacing::new(milliseconds(100));
        assert!(!pacing.is_due_after(milliseconds(99)) && pacing.is_due_after(milliseconds(100)));
        pacing.written(milliseconds(4));
        assert!(!pacing.is_due_after(milliseconds(99)) && pacing.is_due_after(milliseconds(100)));
        pacing.written(milliseconds(6));
        assert!(!pacing.is_due_after(milliseconds(119)) && pacing.is_due_after(milliseconds(120)));
    }

    #[test]
    fn without_a_time_every_record_is_followed_by_a_checkpoint() {
        let mut pacing = CheckpointPacing::new(Duration::ZERO);
        pacing.written(Duration::from_secs(1));
        assert!(pacing.is_due_after(Duration::ZERO));
    }
}
