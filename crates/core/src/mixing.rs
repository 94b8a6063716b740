//! Mixing: the matrices A and B of one round, row by row, and the sequence of them.

use std::sync::Arc;

use crate::{Digraph, Scalar, Topology, Weights};

/// A and B of one round. Each row lists its sources, the agent itself among them, in ascending order: sums are taken in that order everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing<T> {
    starts: Vec<usize>,
    sources: Vec<u32>,
    pull: Vec<T>,
    push: Vec<T>,
    out_degrees: Vec<u32>,
    kept: Vec<f64>,
}

/// One row of A and of B.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a, T> {
    /// Whose rows are mixed, ascending.
    pub sources: &'a [u32],
    /// Their pull weights.
    pub pull: &'a [T],
    /// Their push weights.
    pub push: &'a [T],
}

impl<T: Scalar> Mixing<T> {
    /// Without any agents; [`Mixing::build`] fills it.
    pub fn new() -> Self {
        Self {
            starts: Vec::new(),
            sources: Vec::new(),
            pull: Vec::new(),
            push: Vec::new(),
            out_degrees: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Becomes the matrices of a graph with these weights; memory is reused.
    pub fn build(&mut self, graph: &Digraph, weights: &dyn Weights) {
        let agents = graph.agents();
        self.out_degrees.clear();
        self.out_degrees.extend((0..agents).map(|agent| graph.out_degree(agent) as u32));
        self.kept.clear();
        self.kept.resize(agents, 1.0);
        self.starts.clear();
        self.starts.push(0);
        self.sources.clear();
        self.pull.clear();
        self.push.clear();
        let mut row = [Vec::new(), Vec::new()];
        for target in 0..agents {
            self.append_row(graph, weights, target, &mut row);
        }
        for agent in 0..agents {
            let start = self.starts[agent];
            let place = start + position(graph.sources(agent), agent);
            self.push[place] = T::of(self.kept[agent]);
        }
    }

    /// The row of an agent.
    pub fn row(&self, agent: usize) -> Row<'_, T> {
        let range = self.starts[agent]..self.starts[agent + 1];
        Row { sources: &self.sources[range.clone()], pull: &self.pull[range.clone()], push: &self.push[range] }
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.out_degrees.len()
    }

    /// Entries of A, as many as of B.
    pub fn entries(&self) -> usize {
        self.sources.len()
    }

    /// To how many others an agent sends.
    pub fn out_degree(&self, agent: usize) -> usize {
        self.out_degrees[agent] as usize
    }

    /// The links that start at one of these agents.
    pub fn links_from(&self, agents: std::ops::Range<usize>) -> usize {
        if agents.len() == self.agents() {
            self.entries() - self.agents()
        } else {
            agents.map(|agent| self.out_degree(agent)).sum()
        }
    }

    fn append_row(&mut self, graph: &Digraph, weights: &dyn Weights, target: usize, [a, b]: &mut [Vec<f64>; 2]) {
        let sources = graph.sources(target);
        a.resize(sources.len(), 0.0);
        b.resize(sources.len(), 0.0);
        weights.pull(graph, target, a);
        weights.push(graph, target, b);
        for (&source, b) in sources.iter().zip(&*b) {
            self.kept[source as usize] -= b;
        }
        let before = position(sources, target);
        let stays = 1.0 - a.iter().sum::<f64>();
        self.sources.extend_from_slice(&sources[..before]);
        self.sources.push(target as u32);
        self.sources.extend_from_slice(&sources[before..]);
        insert(&mut self.pull, a, before, stays);
        insert(&mut self.push, b, before, 0.0); // what the agent keeps is known once all rows are
        self.starts.push(self.sources.len());
    }
}

impl<T: Scalar> Default for Mixing<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn position(sources: &[u32], agent: usize) -> usize {
    sources.partition_point(|&source| (source as usize) < agent)
}

fn insert<T: Scalar>(to: &mut Vec<T>, weights: &[f64], before: usize, own: f64) {
    to.extend(weights[..before].iter().map(|&weight| T::of(weight)));
    to.push(T::of(own));
    to.extend(weights[before..].iter().map(|&weight| T::of(weight)));
}

/// A topology with weights: the mixing of every round. Graphs that return are kept, as long as they fit.
#[derive(Clone)]
pub struct Network<T> {
    topology: Arc<dyn Topology>,
    weights: Arc<dyn Weights>,
    graph: Digraph,
    kept: Vec<(u64, Mixing<T>)>,
    current: usize,
}

impl<T: Scalar> Network<T> {
    /// Entries of all graphs that are kept; beyond, the oldest is drawn over.
    const CAPACITY: usize = 1 << 23;

    /// This topology with these weights.
    pub fn new(topology: Arc<dyn Topology>, weights: Arc<dyn Weights>) -> Self {
        let graph = Digraph::new(topology.agents());
        Self { topology, weights, graph, kept: Vec::new(), current: 0 }
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.topology.agents()
    }

    /// The topology.
    pub fn topology(&self) -> &dyn Topology {
        &*self.topology
    }

    /// Makes the mixing of a round the current one.
    pub fn advance(&mut self, round: u64) {
        let name = self.topology.graph_of(round);
        if let Some(place) = self.kept.iter().position(|(kept, _)| *kept == name) {
            self.current = place;
            return;
        }
        let entries: usize = self.kept.iter().map(|(_, mixing)| mixing.entries()).sum();
        let returns = self.topology.period().is_some();
        let average = entries / self.kept.len().max(1);
        if self.kept.is_empty() || (returns && entries + average <= Self::CAPACITY) {
            self.kept.push((name, Mixing::new()));
            self.current = self.kept.len() - 1;
        } else {
            self.current = (self.current + 1) % self.kept.len();
        }
        self.topology.draw(name, &mut self.graph);
        let (kept, mixing) = &mut self.kept[self.current];
        *kept = name;
        mixing.build(&self.graph, &*self.weights);
    }

    /// The current mixing.
    pub fn current(&self) -> &Mixing<T> {
        &self.kept[self.current].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::topologies;
    use crate::weights::weights;

    #[test]
    fn rows_of_a_and_columns_of_b_sum_to_one_for_every_topology_and_weights() {
        for topology in topologies() {
            for (name, weights) in weights() {
                let topology = (topology.example)(12, 3);
                let (mut graph, mut mixing) = (Digraph::new(12), Mixing::<f64>::new());
                for round in 0..35 {
                    topology.draw(topology.graph_of(round), &mut graph);
                    mixing.build(&graph, &*weights);
                    let mut columns = vec![0.0; 12];
                    for agent in 0..12 {
                        let row = mixing.row(agent);
                        assert!(row.sources.is_sorted_by(|a, b| a < b) && row.sources.contains(&(agent as u32)));
                        assert!(row.pull.iter().chain(row.push).all(|&weight| weight > 1e-3), "{name}: {row:?}");
                        assert!((row.pull.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{name}: {row:?}");
                        row.sources
                            .iter()
                            .zip(row.push)
                            .for_each(|(&source, &weight)| columns[source as usize] += weight);
                    }
                    assert!(columns.iter().all(|sum| (sum - 1.0).abs() < 1e-14), "{name}: {columns:?}");
                }
            }
        }
    }

    #[test]
    fn graphs_that_return_are_drawn_once() {
        let topology = Arc::new(crate::topology::Phases::new(9, 0.3, 1));
        let mut network = Network::<f32>::new(topology, Arc::new(crate::weights::Uniform));
        for round in 0..90 {
            network.advance(round);
        }
        assert_eq!(network.kept.len(), 3);
    }
}
