//! Whole nodes in one process, on files in memory, a network in memory and a clock that is moved by
//! hand: seconds of a run take milliseconds, and every run repeats exactly.

mod attack;
mod auditing;
mod beginning;
mod certificates;
mod clocks;
mod cluster;
mod converging;
mod ending;
mod expelling;
mod observing;
mod recording;
mod refusing;
mod sealing;
mod storing;
mod upgrading;
