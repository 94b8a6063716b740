//! A simulator that attacks peers: one seed drives clocks, links, disks, members and faults, and every invariant is checked at every event.

#![warn(clippy::unwrap_used)]

mod crowd;
mod disk;
mod fault;
mod links;
mod oracle;
mod plain;
mod scenario;
mod springs;
mod swarm;
mod world;

pub use crowd::Crowd;
pub use fault::{ByFault, Fault};
pub use links::Lossy;
pub use plain::Plain;
pub use scenario::{MethodKind, NAMED, NetworkKind, Scenario};
pub use swarm::{Failure, Swarm, run};
pub use world::Outcome;
