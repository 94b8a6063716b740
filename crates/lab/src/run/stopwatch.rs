//! The only clock of the lab. No result depends on it, except for measured times.
#![allow(clippy::disallowed_methods, reason = "speed is reported, and checkpoints are written from time to time")]

use std::time::{Duration, Instant, SystemTime};

use cpu_time::ThreadTime;

/// Measures the time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
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

/// Measures how long a run works.
#[derive(Clone, Copy, Debug)]
pub(super) enum WorkTimer {
    /// By the clock on the wall: what people wait for.
    Wall(Stopwatch),
    /// By the time that the processor spent on this thread: other programs do not count.
    Processor(ThreadTime),
}

impl WorkTimer {
    /// Starts to measure, on the thread that works if it is the processor's time.
    pub(super) fn start(processor: bool) -> Self {
        if processor { Self::Processor(ThreadTime::now()) } else { Self::Wall(Stopwatch::start()) }
    }

    /// The seconds since the start.
    pub(super) fn seconds(self) -> f64 {
        match self {
            Self::Wall(watch) => watch.seconds(),
            Self::Processor(begun) => begun.elapsed().as_secs_f64(),
        }
    }
}

/// The date and time as part of a folder's name, such as `2026-11-15T04-30-00Z`.
pub fn timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(':', "-")
}
