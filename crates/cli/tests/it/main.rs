//! Tests of the command, as users run it. They are one binary, because each one links for long.

mod auditing;
mod benchmark;
mod browser;
mod certificates;
mod check;
mod common;
mod departures;
mod import;
mod kills;
mod learning;
mod missing_paths;
mod network;
mod nodes;
mod own_data;
mod refusals;
mod same_bits;
mod sensitivity;
mod shells;
#[cfg(feature = "net")]
mod stage;
mod templates;
mod traps;
mod tune;
mod wrong_inputs;
