//! The complete graph.

use super::Topology;
use crate::Digraph;

/// Everybody hears everybody, in every round.
#[derive(Clone, Copy, Debug)]
pub struct Complete {
    agents: usize,
}

impl Complete {
    /// Among this many agents.
    pub fn new(agents: usize) -> Self {
        Self { agents }
    }
}

impl Topology for Complete {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        let agents = self.agents as u32;
        graph.draw((self.agents * self.agents) as f64, |agent, sources| {
            sources.extend((0..agents).filter(|&source| source as usize != agent));
        });
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }
}
