//! Weights that the topology brings.

use super::{Metropolis, Weights};
use crate::Digraph;

/// The weights that a topology designed together with its links, such as those of base graphs;
/// where it brings none, [`Metropolis`] weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct FromTopology;

impl Weights for FromTopology {
    fn follow_from_degrees(&self) -> bool {
        false
    }

    fn pull(&self, graph: &Digraph, target: usize, a: &mut [f64]) {
        match graph.weights(target) {
            Some(weights) => a.copy_from_slice(weights),
            None => Metropolis.pull(graph, target, a),
        }
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        self.pull(graph, target, b);
    }
}
