//! Real nodes of runs that come to an end: with the right answer, or with a reason.
#![cfg(all(feature = "net", target_os = "linux"))]
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]
#![allow(clippy::print_stdout, reason = "what was tried is counted and printed")]

mod certificates;
mod full_disk;
mod kills;
mod launch_signals;
mod run;
mod start;
mod state_folders;
