//! Equal weights for an agent and its neighbours.

use super::Weights;
use crate::Digraph;

/// Equal parts for all neighbours and oneself, as in the paper: `aᵢⱼ = 1/(1 + indegreeᵢ)`, `bᵢⱼ =
/// 1/(1 + outdegreeⱼ)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl Weights for Uniform {
    fn pull(&self, _graph: &Digraph, _target: usize, a: &mut [f64]) {
        a.fill(1.0 / (1 + a.len()) as f64);
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        for (b, &source) in b.iter_mut().zip(graph.sources(target)) {
            *b = 1.0 / (1 + graph.out_degree(source as usize)) as f64;
        }
    }

    fn keep(&self, graph: &Digraph, source: usize) -> Option<f64> {
        Some(1.0 / (1 + graph.out_degree(source)) as f64)
    }
}
