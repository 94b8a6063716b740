//! Networks: who hears whom, how much, and what follows from that.

mod adjacency;
mod connectivity;
mod digraph;
mod graph_order;
mod mixing;
mod mixing_sequence;
mod mixing_time;
mod perron;
mod reachability;
mod second_eigenvalue;
mod shrunk;
mod tolerance;
pub mod topology;
mod venue;
pub mod weights;

pub use connectivity::{Connectivity, connectivity};
pub use digraph::{Digraph, Sources};
pub use mixing::{Mixing, Network, Row};
pub(crate) use mixing_sequence::MixingSequence;
pub use reachability::{Components, Reach, Rounds};
pub use tolerance::tolerated_step;
pub use topology::Topology;
pub use venue::Venue;
pub use weights::Weights;
