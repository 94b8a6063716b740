//! The undirected variant of any topology.

use std::sync::Mutex;

use super::Topology;
use crate::Digraph;

/// Another topology in which every link goes both ways.
pub struct Undirected {
    inner: Box<dyn Topology>,
    /// Links of the graph being drawn: kept so that later rounds do not allocate.
    links: Mutex<Vec<(usize, usize)>>,
}

impl Undirected {
    /// Both ways wherever the inner topology has one.
    pub fn new(inner: Box<dyn Topology>) -> Self {
        Self { inner, links: Mutex::default() }
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
        self.inner.draw(name, graph);
        let mut links = self.links.lock().expect("no panic while links are held");
        links.clear();
        links.extend(graph.links().flat_map(|(source, target)| [(source, target), (target, source)]));
        graph.set_links(&mut links);
    }

    fn period(&self) -> Option<u64> {
        self.inner.period()
    }

    /// At most twice the links of the inner topology, and at most those of the complete graph.
    fn links(&self) -> f64 {
        let agents = self.agents() as f64;
        (2.0 * self.inner.links()).min(agents * (agents - 1.0))
    }
}
