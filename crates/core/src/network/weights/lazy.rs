//! Weights that leave a fixed part with the agent.

use super::Weights;
use crate::Digraph;

/// A fixed part stays with oneself, the rest is divided equally among the neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Lazy {
    stay: f64,
}

impl Lazy {
    /// Every agent keeps this part, between 0 and 1.
    pub fn new(stay: f64) -> Self {
        assert!(0.0 < stay && stay < 1.0, "the part that stays lies between 0 and 1, not {stay}");
        Self { stay }
    }
}

impl Default for Lazy {
    fn default() -> Self {
        Self::new(0.5)
    }
}

impl Weights for Lazy {
    fn pull(&self, _graph: &Digraph, _target: usize, a: &mut [f64]) {
        a.fill((1.0 - self.stay) / a.len() as f64);
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        for (b, &source) in b.iter_mut().zip(graph.sources(target)) {
            *b = (1.0 - self.stay) / graph.out_degree(source as usize) as f64;
        }
    }
}
