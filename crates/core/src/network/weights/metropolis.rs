//! Metropolis weights: doubly stochastic on undirected graphs.

use super::Weights;
use crate::Digraph;

/// `1/(1 + max(degreeᵢ, degreeⱼ))` for each link: doubly stochastic on an undirected graph (Xiao
/// and Boyd 2004), and valid rows and columns on any other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metropolis;

impl Metropolis {
    fn link(graph: &Digraph, target: usize, source: usize) -> f64 {
        let degree = |agent| graph.in_degree(agent).max(graph.out_degree(agent));
        1.0 / (1 + degree(target).max(degree(source))) as f64
    }
}

impl Weights for Metropolis {
    fn pull(&self, graph: &Digraph, target: usize, a: &mut [f64]) {
        for (a, &source) in a.iter_mut().zip(graph.sources(target)) {
            *a = Self::link(graph, target, source as usize);
        }
    }

    fn push(&self, graph: &Digraph, target: usize, b: &mut [f64]) {
        self.pull(graph, target, b);
    }
}
