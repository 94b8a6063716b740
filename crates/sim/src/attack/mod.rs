//! A deterministic simulator that injects faults into a cluster of peers and checks invariants.
//!
//! [`Scenario`] says what is simulated, [`run`] carries it out, and [`SeedSweep`] does so for many
//! seeds. Inside, `world` drives the peers; `queue`, `network`, `disk` and `sampler` are their
//! surroundings; `inject` carries out faults, `liar` and `forgery` make up what a member that lies
//! says, and `phases` is the course of a simulation.

mod checksum;
mod disk;
mod event_log;
mod fault;
#[cfg(test)]
mod fixture;
mod forgery;
mod happening;
mod inject;
mod invariant_checker;
mod liar;
mod named;
mod network;
mod node;
mod outcome;
mod peer_factory;
mod phases;
mod queue;
mod sampler;
mod scenario;
mod seals;
mod settlement;
mod survivor_quadratic;
mod sweep;
mod violation;
mod wire;
mod world;

pub use fault::{ByFault, Fault};
pub use happening::{Happening, Scene, Spectator};
pub use named::NAMED;
pub use outcome::Outcome;
pub use scenario::{MethodKind, NetworkKind, Scenario};
pub use sweep::{Failure, SeedSweep, run, watch};
