//! The same weight for every link.

use super::Weights;
use crate::Digraph;

/// Every link has the same weight in A and in B; an agent whose many links would leave it too
/// little gives equal parts instead.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    weight: f64,
}

impl Fixed {
    /// Links of this weight, between 0 and 1.
    pub fn new(weight: f64) -> Self {
        assert!(0.0 < weight && weight < 1.0, "a weight lies between 0 and 1, not {weight}");
        Self { weight }
    }
}

impl Weights for Fixed {
    fn pull(&self, _graph: &Digraph, _target: usize, a: &mut [f64]) {
        a.fill(at_most_equal(self.weight, a.len()));
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        for (b, &source) in b.iter_mut().zip(graph.sources(target)) {
            *b = at_most_equal(self.weight, graph.out_degree(source as usize));
        }
    }
}

/// The weight, or equal parts for this many links and oneself if that is less.
pub(super) fn at_most_equal(weight: f64, links: usize) -> f64 {
    if weight * (links as f64) < 1.0 { weight } else { 1.0 / (1 + links) as f64 }
}
