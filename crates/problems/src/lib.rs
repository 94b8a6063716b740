//! Problems for fabnet. Each is a pure function of its parameters and seed; where a solution is
//! known in closed form, it says so.
#![warn(clippy::unwrap_used)]

mod bilevel_quadratic;
mod dense;
#[cfg(feature = "learning")]
pub mod learning;
mod nonconvex;
mod policy_evaluation;
mod problem_kind;
mod quadratic;
mod registry;
mod smooth_bilevel;

pub use bilevel_quadratic::BilevelQuadratic;
pub use nonconvex::Nonconvex;
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
