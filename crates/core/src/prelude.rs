//! What programs that define or run something of their own need most.
//!
//! ```
//! use fabnet_core::prelude::*;
//! ```

pub use crate::algorithm::{Algorithm, PushPull, PushSum, Steps};
pub use crate::direction::Direction;
pub use crate::engine::{ErrorWatch, Observer, Shard, Stop, View, run};
pub use crate::network::{Network, Topology, Weights};
pub use crate::num::Scalar;
pub use crate::problem::{
    Capabilities, ClosedForm, Curvature, Dim, Findings, GradientMut, KnownOptimum, Level, LocalData, MiniBatches,
    Objective, Optimum, Point, PrivatePart, Problem, ProblemExt, Scratch, SingleLevel, Solutions,
};
