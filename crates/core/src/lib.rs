//! The engine of fabnet: decentralized bilevel and single-level optimization over directed, changing graphs.
//!
//! Every method of this family mixes linearly with neighbours, then corrects locally. So an [`Algorithm`] is a pure function on one agent's row; what an agent computes from its
//! own data is a [`Direction`]; and the [`Shard`] mixes exactly, in memory, for any number of agents. Nothing here does I/O, reads a
//! clock or draws a random number that is not a function of (seed, agent, round, purpose): the same run gives the same bits for any number of
//! threads and any partition into shards.
#![warn(clippy::unwrap_used)]

pub mod algorithm;
mod averaged;
mod digraph;
pub mod direction;
mod divergence;
pub mod finding;
mod halo;
pub mod hypergradient;
mod layout;
pub mod linalg;
mod mixing;
pub mod observe;
mod oracle;
pub mod peer;
mod place;
mod problem;
pub mod rng;
mod round;
mod rows;
mod scalar;
mod segment;
pub mod settings;
mod shard;
mod smoothness;
mod together;
pub mod topology;
pub mod weights;
#[cfg(test)]
mod wrappers;

pub use algorithm::Algorithm;
pub use averaged::Averaged;
pub use digraph::{Digraph, Sources};
pub use direction::Direction;
pub use divergence::Divergence;
pub use finding::Finding;
pub use mixing::{Mixing, Network, Row};
pub use observe::{Observer, Stop, View};
pub use oracle::{Evaluations, Oracle, Scratch, Work};
pub use peer::Peer;
pub use place::Place;
pub use problem::{ClosedForm, Curvature, DataRange, Dim, Level, Objective, Optimum, Point, Problem, Slopes, Tensor};
pub use scalar::{Scalar, Typed};
pub use segment::{Blocks, Kind, Mask, Segment, Segments, larger};
pub use shard::{Shard, ShardError};
pub use smoothness::Smoothness;
pub use together::{Sheet, Together};
pub use topology::Topology;
pub use weights::Weights;
