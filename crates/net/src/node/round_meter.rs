//! How long the parts of an agent's rounds take.

use std::time::Duration;

use fabnet_watch::{LatestRounds, RoundParts};

/// Adds up what an agent's present round takes, and remembers the last rounds.
#[derive(Debug)]
pub(super) struct RoundMeter {
    /// The time at which the present round began.
    began: Duration,
    /// The time that the agent has worked in it.
    work: Duration,
    /// The time that its records took.
    disk: Duration,
    /// The time that its evaluations had taken before.
    evaluated: Duration,
    latest: LatestRounds,
}

impl RoundMeter {
    /// A meter of rounds that begin now.
    pub(super) fn new(now: Duration) -> Self {
        let none = Duration::ZERO;
        Self { began: now, work: none, disk: none, evaluated: none, latest: LatestRounds::default() }
    }

    /// The last rounds.
    pub(super) fn latest(&self) -> &LatestRounds {
        &self.latest
    }

    /// Notes that the agent has worked.
    pub(super) fn add_work(&mut self, time: Duration) {
        self.work += time;
    }

    /// Notes that records were written.
    pub(super) fn add_disk(&mut self, time: Duration) {
        self.disk += time;
    }

    /// Notes that some rounds have ended, when evaluations had taken this long in all. Returns how
    /// long each of them took.
    pub(super) fn end(&mut self, now: Duration, rounds: u64, evaluated: Duration) -> Duration {
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX).max(1);
        let whole = now.saturating_sub(self.began);
        let compute = evaluated.saturating_sub(self.evaluated);
        let each = |time: Duration| u32::try_from((time / rounds).as_micros()).unwrap_or(u32::MAX);
        self.latest.add(RoundParts {
            compute: each(compute),
            wait: each(whole.saturating_sub(self.work + self.disk)),
            mix: each(self.work.saturating_sub(compute)),
            disk: each(self.disk),
        });
        (self.began, self.work, self.disk, self.evaluated) = (now, Duration::ZERO, Duration::ZERO, evaluated);
        whole / rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_round_are_all_of_its_time() {
        let [start, end] = [100, 600].map(Duration::from_micros);
        let mut meter = RoundMeter::new(start);
        meter.add_work(Duration::from_micros(30));
        meter.add_work(Duration::from_micros(50));
        meter.add_disk(Duration::from_micros(20));
        assert_eq!(meter.end(end, 1, Duration::from_micros(60)), Duration::from_micros(500));
        assert_eq!(meter.latest().rounds[0], RoundParts { compute: 60, wait: 400, mix: 20, disk: 20 });
        // Two rounds at once, and nothing is left over from the first.
        meter.add_work(Duration::from_micros(40));
        assert_eq!(meter.end(Duration::from_micros(800), 2, Duration::from_micros(70)), Duration::from_micros(100));
        assert_eq!(meter.latest().rounds[1], RoundParts { compute: 5, wait: 80, mix: 15, disk: 0 });
    }
}
