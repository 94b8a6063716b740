//! Peers on unreliable networks, in one process and without a clock.
//!
//! `lossy` holds the engines behind an experiment's `[faults]` section: whole runs whose links
//! lose, delay and duplicate messages. `attack` is a deterministic fault simulator that tests the
//! protocol itself: one seed drives clocks, links, disks, members and faults, and every invariant
//! is checked after every event. The two share nothing but the core.

#![warn(clippy::unwrap_used)]

mod attack;
mod lossy;

pub use attack::{
    ByFault, Failure, Fault, Happening, MethodKind, NAMED, NetworkKind, Outcome, Scenario, Scene, SeedSweep, Spectator,
    run, watch,
};
pub use lossy::{LinkFaults, LossyPeers, LossyUnledgered};
