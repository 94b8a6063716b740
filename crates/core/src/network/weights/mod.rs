//! Weights: how much an agent gives to each neighbour.
//!
//! A pull weight is the receiver's choice (a row of A), a push weight the sender's (a column of B).
//! What is not given away stays, so that rows of A and columns of B sum to 1; every kind here keeps
//! a positive part whatever the graph.

mod alternating;
mod fixed;
mod from_topology;
mod lazy;
mod metropolis;
mod registry;
mod uniform;

pub use alternating::Alternating;
pub use fixed::Fixed;
pub use from_topology::FromTopology;
pub use lazy::Lazy;
pub use metropolis::Metropolis;
pub use registry::{WeightsKind, weights};
pub use uniform::Uniform;

use crate::Digraph;

/// How much an agent gives to each neighbour. Everything is decided locally: a neighbour's degree
/// may travel with its message.
pub trait Weights: Send + Sync {
    /// Writes, for each source of the target in order, what the target takes of it: the row of A
    /// without its diagonal.
    fn pull(&self, graph: &Digraph, target: usize, a: &mut [f64]);

    /// Writes, for each source of the target in order, what the source sends to the target: the row
    /// of B without its diagonal.
    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]);

    /// Whether weights follow from the degrees of agents alone, whatever agents are called.
    fn follow_from_degrees(&self) -> bool {
        true
    }

    /// What a sender keeps, if senders can tell from their degree; otherwise it is found as what is
    /// left of their columns.
    fn keep(&self, _graph: &Digraph, _source: usize) -> Option<f64> {
        None
    }
}
