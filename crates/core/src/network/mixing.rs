//! Mixing: the matrices A and B of one round, row by row, and the sequence of them.

use std::ops::Range;
use std::sync::Arc;

use super::digraph::row_start;
use crate::{Digraph, Topology, Weights};

/// A and B of one round. Each row lists the agent itself, then its sources in ascending order: sums
/// are taken in that order everywhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mixing {
    ends: Vec<usize>,
    sources: Vec<u32>,
    pull: Vec<f64>,
    push: Vec<f64>,
    out_degrees: Vec<u32>,
}

/// One row of A and of B.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whose rows are mixed: the agent itself, then the others, ascending.
    pub sources: &'a [u32],
    /// The pull weights of these sources.
    pub pull: &'a [f64],
    /// The push weights of these sources.
    pub push: &'a [f64],
}

impl Mixing {
    /// Becomes the matrices of the topology's graph of this name, with these weights. Memory is
    /// reused; `graph` lends its own and holds nothing of use after.
    pub fn draw(&mut self, topology: &dyn Topology, name: u64, weights: &dyn Weights, graph: &mut Digraph) {
        topology.draw(name, graph);
        let entries = graph.edges() + graph.agents();
        self.out_degrees.clear();
        self.out_degrees.extend((0..graph.agents()).map(|agent| graph.out_degree(agent) as u32));
        self.pull.resize(entries, 0.0);
        self.push.resize(entries, 0.0);
        fill(graph, weights, 0..graph.agents(), &mut self.pull, &mut self.push);
        let kept = weights.keep(graph, 0);
        graph.take_rows(&mut self.ends, &mut self.sources);
        if kept.is_none() {
            self.keep_the_rest();
        }
    }

    /// The row of an agent in A and in B.
    pub fn row(&self, agent: usize) -> Row<'_> {
        let range = row_start(&self.ends, agent)..self.ends[agent];
        Row { sources: &self.sources[range.clone()], pull: &self.pull[range.clone()], push: &self.push[range] }
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.ends.len()
    }

    /// Entries of A, as many as of B.
    pub fn entries(&self) -> usize {
        self.sources.len()
    }

    /// The links that start at one of these agents.
    pub fn links_from(&self, agents: Range<usize>) -> usize {
        if agents.len() == self.agents() {
            self.entries() - self.agents()
        } else {
            self.out_degrees[agents].iter().map(|&degree| degree as usize).sum()
        }
    }

    /// Sets the diagonal of B to what is left of each column; it arrives as 1.
    fn keep_the_rest(&mut self) {
        for (agent, &end) in self.ends.iter().enumerate() {
            for entry in row_start(&self.ends, agent) + 1..end {
                let diagonal = row_start(&self.ends, self.sources[entry] as usize);
                self.push[diagonal] -= self.push[entry];
            }
        }
    }
}

/// Fills in the weights of these agents' rows, by several threads if there is enough to do. The
/// diagonal of B is left at 1 where senders cannot tell what they keep.
fn fill(graph: &Digraph, weights: &dyn Weights, agents: Range<usize>, pull: &mut [f64], push: &mut [f64]) {
    /// Entries that make a piece worth handing to another thread.
    const GRAIN: usize = 8192;
    if pull.len() > GRAIN && agents.len() > 1 {
        let middle = usize::midpoint(agents.start, agents.end);
        let entries = graph.start(middle) - graph.start(agents.start);
        let ((pull, pull_after), (push, push_after)) = (pull.split_at_mut(entries), push.split_at_mut(entries));
        rayon::join(
            || fill(graph, weights, agents.start..middle, pull, push),
            || fill(graph, weights, middle..agents.end, pull_after, push_after),
        );
        return;
    }
    let (mut pull, mut push) = (pull, push);
    for target in agents {
        let row = graph.in_degree(target) + 1;
        let ([own_a, a @ ..], pull_rest) = pull.split_at_mut(row) else {
            unreachable!("a row has an entry for its agent")
        };
        let ([own_b, b @ ..], push_rest) = push.split_at_mut(row) else {
            unreachable!("a row has an entry for its agent")
        };
        weights.pull(graph, target, a);
        weights.push(graph, target, b);
        (*own_a, *own_b) = (1.0 - a.iter().sum::<f64>(), weights.keep(graph, target).unwrap_or(1.0));
        (pull, push) = (pull_rest, push_rest);
    }
}

/// A topology with weights: the mixing of every round. Graphs that return are kept, as long as they
/// fit.
#[derive(Clone)]
pub struct Network {
    topology: Arc<dyn Topology>,
    weights: Arc<dyn Weights>,
    graph: Digraph,
    kept: Vec<(u64, Mixing)>,
    current: usize,
}

impl Network {
    /// Entries of all graphs that are kept; beyond, the oldest is drawn over.
    const CAPACITY: usize = 1 << 23;

    /// The network of this topology with these weights.
    pub fn new(topology: Arc<dyn Topology>, weights: Arc<dyn Weights>) -> Self {
        let graph = Digraph::new(topology.agents());
        Self { topology, weights, graph, kept: Vec::new(), current: 0 }
    }

    /// How many graphs with this many entries are in memory at a time: all of a period if they fit,
    /// otherwise the current one and the next.
    pub fn graphs_kept(topology: &dyn Topology, entries: f64) -> usize {
        let Some(period) = topology.period() else { return 2 };
        let most = ((Self::CAPACITY as f64 / entries) as usize).max(2);
        let mut names: Vec<u64> = (0..period.min(1 << 16)).map(|round| topology.graph_of(round)).collect();
        names.sort_unstable();
        names.dedup();
        names.len().min(most)
    }

    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.topology.agents()
    }

    /// Whether the graph is the same in all rounds.
    pub fn is_static(&self) -> bool {
        self.topology.period() == Some(1)
    }

    /// Who hears whom.
    pub(super) fn topology(&self) -> &dyn Topology {
        &*self.topology
    }

    /// How much they take of what they hear.
    pub(super) fn weights(&self) -> &Arc<dyn Weights> {
        &self.weights
    }

    /// Makes the mixing of a round the current one.
    pub fn advance(&mut self, round: u64) {
        let name = self.topology.graph_of(round);
        if let Some(place) = self.place_for(name) {
            self.kept[place].1.draw(&*self.topology, name, &*self.weights, &mut self.graph);
        }
        self.current = self.kept.iter().position(|(kept, _)| *kept == name).unwrap_or_default();
    }

    /// The mixing matrices of the current round.
    pub fn current(&self) -> &Mixing {
        &self.kept[self.current].1
    }

    /// The same, or nothing before the first round.
    pub fn last(&self) -> Option<&Mixing> {
        self.kept.get(self.current).map(|(_, mixing)| mixing)
    }

    /// Works with the current mixing and meanwhile, on other threads, draws that of another round
    /// if it is not there yet.
    pub fn current_while_drawing<R: Send>(&mut self, round: u64, work: impl FnOnce(&Mixing) -> R + Send) -> R {
        let name = self.topology.graph_of(round);
        let Some(place) = self.place_for(name) else { return work(self.current()) };
        let [(_, current), (_, upcoming)] =
            self.kept.get_disjoint_mut([self.current, place]).expect("the current graph is not drawn over");
        let draw = || upcoming.draw(&*self.topology, name, &*self.weights, &mut self.graph);
        rayon::join(|| work(current), draw).0
    }

    /// Where the graph of this name is to be drawn; none if it is there.
    fn place_for(&mut self, name: u64) -> Option<usize> {
        if self.kept.iter().any(|(kept, _)| *kept == name) {
            return None;
        }
        let entries: usize = self.kept.iter().map(|(_, mixing)| mixing.entries()).sum();
        let average = entries / self.kept.len().max(1);
        let place = if self.kept.len() < 2 || (self.topology.period().is_some() && entries + average <= Self::CAPACITY)
        {
            self.kept.push((name, Mixing::default()));
            self.kept.len() - 1
        } else {
            (self.current + 1) % self.kept.len()
        };
        self.kept[place].0 = name;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingsReader;
    use crate::topology::examples;
    use crate::weights::weights;

    #[test]
    fn rows_of_a_and_columns_of_b_sum_to_one_for_every_topology_and_weights() {
        for (_, topology) in examples(12, 3) {
            for kind in weights() {
                let (name, weights) = (kind.name, (kind.read)(&mut SettingsReader::new(&[])));
                let (mut graph, mut mixing) = (Digraph::new(12), Mixing::default());
                for round in 0..35 {
                    mixing.draw(&*topology, topology.graph_of(round), &*weights, &mut graph);
                    let mut columns = vec![0.0; 12];
                    for agent in 0..12 {
                        let row = mixing.row(agent);
                        assert!(row.sources[0] == agent as u32 && row.sources[1..].is_sorted_by(|a, b| a < b));
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
    fn large_graphs_are_the_same_for_any_number_of_threads() {
        let topology = crate::topology::ErdosRenyi::new(2000, 0.02, 9, crate::topology::Redraw::EveryRound).with_ring();
        let built = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (mut graph, mut mixing) = (Digraph::new(2000), Mixing::default());
                mixing.draw(&topology, 5, &crate::weights::Metropolis, &mut graph);
                mixing
            })
        };
        assert_eq!(built(1), built(3));
    }

    #[test]
    fn graphs_that_return_are_drawn_once() {
        let topology = Arc::new(crate::topology::Phases::new(9, 0.3, 1));
        let mut network = Network::new(topology, Arc::new(crate::weights::Uniform));
        for round in 0..90 {
            network.advance(round);
        }
        assert_eq!(network.kept.len(), 3);
    }
}
