//! Problems for fabnet. Each is a pure function of its parameters and seed; where a solution is
//! known in closed form, it says so.
#![warn(clippy::unwrap_used)]

mod bilevel_quadratic;
mod coefficient_tuning;
mod dense;
mod hyper_representation;
#[cfg(feature = "learning")]
pub mod learning;
mod libsvm;
mod minimax;
mod nonconvex;
mod nonconvex_lower;
mod policy_evaluation;
mod problem_kind;
mod quadratic;
mod registry;
mod smooth_bilevel;

pub use bilevel_quadratic::BilevelQuadratic;
pub use coefficient_tuning::{CoefficientTuning, SparseShape};
pub use hyper_representation::{HyperRepresentation, RepresentationShape};
pub use minimax::Minimax;
pub use nonconvex::Nonconvex;
pub use nonconvex_lower::NonconvexLower;
pub use policy_evaluation::PolicyEvaluation;
pub use problem_kind::{DataChecksum, DataPartition, ProblemKind, ProblemRecipe};
pub use quadratic::Quadratic;
pub use registry::{examples, problems};
pub use smooth_bilevel::SmoothBilevel;

/// The examples of README.md and CONTRIBUTING.md, so that they are compiled and run.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../CONTRIBUTING.md")]
    mod contributing {}
}
