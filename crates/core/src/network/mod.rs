//! Networks: who hears whom, how much, and what follows from that.

mod components;
mod connectivity;
mod digraph;
mod history;
mod mixing;
mod tolerance;
pub mod topology;
mod venue;
pub mod weights;

pub use components::Components;
pub use connectivity::{Connectivity, Reach, connectivity};
pub use digraph::{Digraph, Sources};
pub use mixing::{Mixing, Network, Row};
pub use tolerance::tolerated_step;
pub use topology::Topology;
pub use venue::Venue;
pub use weights::Weights;
