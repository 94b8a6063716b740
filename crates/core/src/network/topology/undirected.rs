//! The undirected variant of any topology.

use std::sync::Mutex;

use super::super::adjacency::{Adjacency, Neighbour};
use super::Topology;
use crate::{Digraph, Sources};

/// Another topology in which every link goes both ways. Where that is so already, it keeps the
/// weights that the other topology brings.
pub struct Undirected {
    inner: Box<dyn Topology>,
    /// The graph of the inner topology and its targets: kept so that later rounds do not allocate.
    directed: Mutex<(Digraph, Adjacency)>,
}

impl Undirected {
    /// Both ways wherever the inner topology has one.
    pub fn new(inner: Box<dyn Topology>) -> Self {
        let directed = Mutex::new((Digraph::new(inner.agents()), Adjacency::default()));
        Self { inner, directed }
    }
}

impl Topology for Undirected {
    fn agents(&self) -> usize {
        self.inner.agents()
    }

    fn graph_of(&self, round: u64) -> u64 {
        self.inner.graph_of(round)
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        let (directed, targets) = &mut *self.directed.lock().expect("no panic while a graph is drawn");
        self.inner.draw(name, directed);
        targets.fill(directed.agents(), |note| {
            directed.links().for_each(|(source, target)| note(source, Neighbour { agent: target as u32, graph: 0 }));
        });
        graph.draw(2.0 * directed.edges() as f64, |agent, sources| {
            merge(directed.sources(agent), targets.of(agent), sources);
        });
        if graph.edges() == directed.edges() {
            graph.set_weights_of(directed);
        }
    }

    fn period(&self) -> Option<u64> {
        self.inner.period()
    }

    /// At most twice the links of the inner topology, and at most those of the complete graph.
    fn links(&self) -> f64 {
        let agents = self.agents() as f64;
        (2.0 * self.inner.links()).min(agents * (agents - 1.0))
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        self.inner.shrunk(most).map(|inner| Box::new(Self::new(inner)) as Box<dyn Topology>)
    }
}

/// Appends sources and targets, both ascending, in ascending order and each once.
fn merge(mut heard: &[u32], mut targets: &[Neighbour], sources: &mut Sources<'_>) {
    while let (Some(&source), Some(target)) = (heard.first(), targets.first()) {
        sources.push(source.min(target.agent) as usize);
        heard = &heard[usize::from(source <= target.agent)..];
        targets = &targets[usize::from(target.agent <= source)..];
    }
    for &source in heard {
        sources.push(source as usize);
    }
    for target in targets {
        sources.push(target.agent as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{ErdosRenyi, OnePeerExponential, Redraw};

    #[test]
    fn every_link_goes_both_ways_and_there_are_no_others() {
        let random = || Box::new(ErdosRenyi::new(30, 0.1, 4, Redraw::EveryRound));
        let pairs: [[Box<dyn Topology>; 2]; 2] =
            [[random(), random()], [Box::new(OnePeerExponential::new(8)), Box::new(OnePeerExponential::new(8))]];
        for [directed, inner] in pairs {
            let (undirected, agents) = (Undirected::new(inner), directed.agents());
            let (mut one, mut both) = (Digraph::new(agents), Digraph::new(agents));
            for name in 0..3 {
                directed.draw(name, &mut one);
                undirected.draw(name, &mut both);
                let reversed = one.links().map(|(source, target)| (target, source));
                let mut expected: Vec<_> = one.links().chain(reversed).collect();
                expected.sort_unstable_by_key(|&(source, target)| (target, source));
                expected.dedup();
                assert!(both.links().eq(expected), "graph {name} of {agents} agents");
            }
        }
    }
}
