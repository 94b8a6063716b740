//! When the checkpoints of an agent were written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// When checkpoints of an agent were begun and written; its copies are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct CheckpointTimes(Arc<Mutex<LatestCheckpoints>>);

#[derive(Clone, Copy, Debug, Default)]
struct LatestCheckpoints {
    /// The time at which the last one was begun.
    begun: Option<Duration>,
    /// The time of the newest one that is on disk or, if there is none, of the first attempt.
    since: Option<Duration>,
    /// Whether one is being written.
    is_under_way: bool,
}

impl CheckpointTimes {
    /// Whether it is time for another one: none is under way, and the last one was begun this long
    /// ago.
    pub(super) fn is_due(&self, now: Duration, interval: Duration) -> bool {
        let LatestCheckpoints { begun, is_under_way, .. } = *self.times();
        !is_under_way && begun.is_none_or(|begun| now.saturating_sub(begun) >= interval)
    }

    /// Notes that one is begun.
    pub(super) fn begin(&self, now: Duration) {
        let mut times = self.times();
        (times.begun, times.is_under_way) = (Some(now), true);
        times.since.get_or_insert(now);
    }

    /// Notes that the one that was begun is on disk, or that it could not be written.
    pub(super) fn end(&self, written: bool) {
        let mut times = self.times();
        times.is_under_way = false;
        if written {
            times.since = times.begun;
        }
    }

    /// The age of the newest one: the work that a crash would lose. A disk that takes none makes it
    /// grow.
    pub(super) fn age(&self, now: Duration) -> Option<Duration> {
        Some(now.saturating_sub(self.times().since?))
    }

    fn times(&self) -> MutexGuard<'_, LatestCheckpoints> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_next_one_is_due_an_interval_after_the_last_one_and_not_while_that_is_written() {
        let times = CheckpointTimes::default();
        assert!(times.is_due(at(0), at(5)));
        times.begin(at(1));
        assert!(!times.is_due(at(9), at(5)), "it is under way");
        times.end(true);
        assert_eq!([5, 6].map(|now| times.is_due(at(now), at(5))), [false, true]);
    }

    #[test]
    fn a_disk_that_takes_none_makes_the_age_grow() {
        let times = CheckpointTimes::default();
        assert_eq!(times.age(at(9)), None, "none was asked for");
        times.begin(at(10));
        times.end(false);
        assert_eq!(times.age(at(17)), Some(at(7)));
        times.begin(at(20));
        times.end(true);
        times.begin(at(30));
        times.end(false);
        assert_eq!(times.age(at(31)), Some(at(11)));
    }
}
