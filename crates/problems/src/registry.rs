//! The problems by name.

use std::sync::Arc;

use fabnet_core::{Dim, Problem, Scalar};

use crate::{BilevelQuadratic, Nonconvex, PolicyEvaluation, Quadratic, SmoothBilevel};

/// A named kind of problem.
#[derive(Clone, Copy)]
pub struct Kind<T: Scalar> {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// An example with this many agents and this seed: what every problem is tested with.
    pub example: fn(usize, u64) -> Arc<dyn Problem<T>>,
}

/// Every kind of problem there is. A new one is a file, and a line here.
pub fn problems<T: Scalar>() -> Vec<Kind<T>> {
    let kind = |name, about, example| Kind { name, about, example };
    vec![
        kind("policy-evaluation", "a linear value function fitted to Bellman targets, bilevel", |n, seed| {
            Arc::new(PolicyEvaluation::new(n, seed))
        }),
        kind("bilevel-quadratic", "quadratic at both levels, with private coordinates if wanted", |n, seed| {
            Arc::new(BilevelQuadratic::with_private(n, Dim { outer: 3, inner: 5 }, 4.0, 0.5, seed, |agent| agent % 3))
        }),
        kind("quadratic", "a diagonal quadratic, single level", |n, seed| {
            Arc::new(Quadratic::new(n, 6, 5.0, 1.0, seed))
        }),
        kind("smooth-bilevel", "smooth, nonconvex in x, bilevel", |n, seed| Arc::new(SmoothBilevel::new(n, seed))),
        kind("nonconvex", "smooth and nonconvex in the plane, single level", |n, seed| {
            Arc::new(Nonconvex::new(n, seed))
        }),
    ]
}
