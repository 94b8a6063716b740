//! The engine of fabnet: decentralized bilevel and single-level optimization over directed,
//! changing graphs.
//!
//! Every method of this family mixes linearly with neighbours, then corrects locally. So an
//! [`Algorithm`] is a pure function on one agent's row; what an agent computes from its own data is
//! a [`Direction`]; and the [`Shard`] mixes exactly, in memory, for any number of agents. Nothing
//! here does I/O, reads a clock or draws a random number that is not a function of (seed, agent,
//! round, purpose): the same run gives the same bits for any number of threads and any partition
//! into shards.
#![warn(clippy::unwrap_used)]

pub mod algorithm;
pub mod direction;
mod engine;
pub mod network;
mod num;
pub mod peer;
pub mod prelude;
mod problem;
pub mod settings;

pub use algorithm::{Algorithm, Mask, Segment, SegmentKind, Segments, larger};
pub use direction::{Blocks, Direction};
pub use engine::{Costs, Divergence, Observer, RowLayout, SegmentSpan, Shard, ShardError, Stop, View, agent};
pub use network::{Digraph, Mixing, Network, Row, Sources, Topology, Venue, Weights, topology, weights};
pub use num::{Scalar, Typed, linalg, rng};
pub use peer::Peer;
pub use problem::{
    Averaged, BatchOracle, Capabilities, ClosedForm, Curvature, DataRange, Dim, Evaluations, Finding, Findings,
    GradientMut, KnownOptimum, Level, LocalData, MiniBatches, ModelParameters, Objective, Optimum, Oracle, Point,
    PrivatePart, Problem, ProblemExt, QueryBatch, Scratch, SingleLevel, Smoothness, Solutions, Tensor, Timer, Whose,
    Work, finding, hypergradient,
};

/// Who looks at a run from outside, and the loop of a run.
pub mod observe {
    pub use crate::engine::{Agents, DivergenceGuard, ErrorWatch, Observer, Stop, View, run};
}
