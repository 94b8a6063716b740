//! Whole nodes in one process, on files in memory, a network in memory and a clock that is moved by
//! hand: seconds of a run take milliseconds, and every run repeats exactly.

mod beginning;
mod cluster;
mod converging;
mod ending;
mod observing;
mod recording;
mod refusing;
mod storing;
