//! The one clock of the lab. Nothing that is computed depends on it.
#![allow(clippy::disallowed_methods, reason = "speed is reported, and checkpoints are written from time to time")]

use std::time::{Duration, Instant, SystemTime};

/// Measures durations.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The seconds since the start.
    pub fn seconds(self) -> f64 {
        self.elapsed().as_secs_f64()
    }
}

/// The time of day as it goes into the names of folders: `2026-11-15T04-30-00Z`.
pub fn timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(':', "-")
}
