//! The undirected variant of any topology.

use std::sync::Mutex;

use super::Topology;
use crate::Digraph;

/// Another topology in which every link goes both ways.
#[derive(Debug)]
pub struct Undirected<G> {
    inner: G,
    /// Links of the graph being drawn: kept so that later rounds do not allocate.
    links: Mutex<Vec<(usize, usize)>>,
}

impl<G: Topology> Undirected<G> {
    /// Both ways wherever the inner topology has one.
    pub fn new(inner: G) -> Self {
        Self { inner, links: Mutex::default() }
    }
}

impl<G: Topology> Topology for Undirected<G> {
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
}
