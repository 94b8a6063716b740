//! Weights that alternate between two values.

use super::Weights;
use super::fixed::at_most_equal;
use crate::Digraph;

/// Links into even agents have one weight, links into odd agents another, in A and in B alike: the
/// paper's test of small weights on a ring.
#[derive(Clone, Copy, Debug)]
pub struct Alternating {
    even: f64,
    odd: f64,
}

impl Alternating {
    /// Links of these weights, between 0 and 1.
    pub fn new(even: f64, odd: f64) -> Self {
        assert!(
            [even, odd].iter().all(|weight| 0.0 < *weight && *weight < 1.0),
            "weights lie between 0 and 1, not {even} and {odd}"
        );
        Self { even, odd }
    }

    fn into(&self, target: usize) -> f64 {
        if target.is_multiple_of(2) { self.even } else { self.odd }
    }
}

impl Weights for Alternating {
    fn follow_from_degrees(&self) -> bool {
        false
    }

    fn pull(&self, _graph: &Digraph, target: usize, a: &mut [f64]) {
        a.fill(at_most_equal(self.into(target), a.len()));
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        for (b, &source) in b.iter_mut().zip(graph.sources(target)) {
            // The sender's other links may carry the larger weight: what it can afford is judged by
            // that.
            let links = graph.out_degree(source as usize);
            *b = if at_most_equal(self.even.max(self.odd), links) < self.even.max(self.odd) {
                1.0 / (1 + links) as f64
            } else {
                self.into(target)
            };
        }
    }
}
