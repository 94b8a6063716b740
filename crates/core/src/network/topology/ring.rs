//! The directed ring.

use super::{Topology, halved};
use crate::Digraph;

/// A static directed ring: i hears i − 1, or i + 1 when reversed.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    agents: usize,
    reversed: bool,
}

impl Ring {
    /// The ring in which agent i hears i − 1.
    pub fn new(agents: usize) -> Self {
        Self { agents, reversed: false }
    }

    /// The ring in which agent i hears i + 1.
    pub fn reversed(agents: usize) -> Self {
        Self { agents, reversed: true }
    }

    /// The agent that an agent hears; a single agent hears none.
    pub(super) fn source(&self, agent: usize) -> Option<usize> {
        let shift = if self.reversed { 1 } else { self.agents - 1 };
        Some((agent + shift) % self.agents).filter(|&source| source != agent)
    }
}

impl Topology for Ring {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        graph.draw(self.agents as f64, |agent, sources| {
            self.source(agent).into_iter().for_each(|source| sources.push(source));
        });
    }

    fn strides(&self, _name: u64) -> Option<Vec<usize>> {
        let stride = if self.reversed { self.agents - 1 } else { 1 };
        Some(if self.agents > 1 { vec![stride] } else { Vec::new() })
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn links(&self) -> f64 {
        if self.agents > 1 { self.agents as f64 } else { 0.0 }
    }

    fn spread(&self) -> Option<u64> {
        Some(self.agents.saturating_sub(1) as u64)
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        Some(Box::new(Self { agents: halved(self.agents, most), ..*self }))
    }
}
