//! Numbers: scalars, kernels on slices, and random streams.

pub mod linalg;
pub mod rng;
mod scalar;

pub(crate) use scalar::extend;
pub use scalar::{Scalar, Typed};
