//! The clock of a node: the system's, or one that a test moves by hand.
#![allow(clippy::disallowed_methods, reason = "this is where nodes take their time from")]

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a node takes the time from. It is handed in, so that whatever depends on time can be
/// tested without waiting for it.
pub trait Clock: Debug + Send + Sync {
    /// The time since some fixed moment; it never goes back.
    fn now(&self) -> Duration;

    /// The time since 1970-01-01 UTC, which an operator may set back.
    fn unix_time(&self) -> Duration;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    fn unix_time(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock that stands still until it is moved, for tests and for deterministic runs.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: Mutex<Duration>,
}

impl ManualClock {
    /// The wall time at which the clock starts: in November 2023, as good as any other moment.
    const START: Duration = Duration::from_secs(1_700_000_000);

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unix_time(&self) -> Duration {
        Self::START + self.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_it_is_told_to() {
        let clock = ManualClock::default();
        let before = (clock.now(), clock.unix_time());
        assert_eq!((clock.now(), clock.unix_time()), before);
        clock.advance(Duration::from_millis(1500));
        let later = Duration::from_millis(1500);
        assert_eq!((clock.now(), clock.unix_time()), (before.0 + later, before.1 + later));
    }

    #[test]
    fn the_system_clock_does_not_go_back_and_knows_the_date() {
        let clock = SystemClock::default();
        let readings: Vec<Duration> = (0..1000).map(|_| clock.now()).collect();
        assert!(readings.is_sorted());
        assert!(clock.unix_time() > ManualClock::START, "{:?}", clock.unix_time());
    }
}
