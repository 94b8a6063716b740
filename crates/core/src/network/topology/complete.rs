//! The complete graph.

use super::{Topology, halved};
use crate::Digraph;

/// The complete graph: every agent hears all others, in every round.
#[derive(Clone, Copy, Debug)]
pub struct Complete {
    agents: usize,
}

impl Complete {
    /// The complete graph of this many agents.
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
        graph.draw((self.agents * self.agents) as f64, |agent, sources| {
            (0..self.agents).filter(|&source| source != agent).for_each(|source| sources.push(source));
        });
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn links(&self) -> f64 {
        self.agents as f64 * self.agents.saturating_sub(1) as f64
    }

    fn spread(&self) -> Option<u64> {
        Some(u64::from(self.agents > 1))
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        // Averages are exact whatever the number of neighbours.
        Some(Box::new(Self { agents: halved(self.agents, most) }))
    }
}
