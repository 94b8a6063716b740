//! A topology that stands still.

use super::Topology;
use crate::Digraph;

/// Another topology's graph of round 0, for ever.
pub struct Frozen {
    inner: Box<dyn Topology>,
}

impl Frozen {
    /// Stands still where the inner topology begins.
    pub fn new(inner: Box<dyn Topology>) -> Self {
        Self { inner }
    }
}

impl Topology for Frozen {
    fn agents(&self) -> usize {
        self.inner.agents()
    }

    fn graph_of(&self, _round: u64) -> u64 {
        self.inner.graph_of(0)
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        self.inner.draw(name, graph);
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }
}
