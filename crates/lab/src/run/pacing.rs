//! When a run writes a checkpoint, or a frame for those who watch.

use std::time::Duration;

use super::stopwatch::Stopwatch;

/// Decides when a run writes next. Between two times there is at least the time that was asked for,
/// and a multiple of what the last one took. So writing takes a bounded part of the time, however
/// much there is to write.
pub(super) struct Pacing {
    /// The time that was asked for.
    least: Duration,
    /// A run works at least this many times as long as it writes.
    work: u32,
    /// How long the last writing took.
    cost: Duration,
    /// The time since then.
    since: Stopwatch,
}

impl Pacing {
    /// At least this time in between, and this many times as long as writing takes. Zero means
    /// after every record, whatever it costs.
    pub(super) fn new(least: Duration, work: u32) -> Self {
        Self { least, work, cost: Duration::ZERO, since: Stopwatch::start() }
    }

    /// Whether it is time to write.
    pub(super) fn is_due(&self) -> bool {
        self.is_due_after(self.since.elapsed())
    }

    fn is_due_after(&self, elapsed: Duration) -> bool {
        self.least.is_zero() || elapsed >= self.least.max(self.cost.saturating_mul(self.work))
    }

    /// Notes that something was written just now, and how long it took.
    pub(super) fn written(&mut self, cost: Duration) {
        (self.cost, self.since) = (cost, Stopwatch::start());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_waits_for_the_time_asked_for_and_for_twenty_times_its_cost() {
        let milliseconds = Duration::from_millis;
        let mut pacing = Pacing::new(milliseconds(100), 20);
        assert!(!pacing.is_due_after(milliseconds(99)) && pacing.is_due_after(milliseconds(100)));
        pacing.written(milliseconds(4));
        assert!(!pacing.is_due_after(milliseconds(99)) && pacing.is_due_after(milliseconds(100)));
        pacing.written(milliseconds(6));
        assert!(!pacing.is_due_after(milliseconds(119)) && pacing.is_due_after(milliseconds(120)));
    }

    #[test]
    fn without_a_time_it_is_always_time() {
        let mut pacing = Pacing::new(Duration::ZERO, 20);
        pacing.written(Duration::from_secs(1));
        assert!(pacing.is_due_after(Duration::ZERO));
    }
}
