//! The hypercube, also with missing corners.

use super::Topology;
use crate::Digraph;

/// Agents whose numbers differ in one binary digit hear each other, in every round. Where the
/// number of agents is no power of two, corners are missing, and the graph is connected all the
/// same: every agent has a way to agent 0 that only clears digits.
#[derive(Clone, Copy, Debug)]
pub struct Hypercube {
    agents: usize,
}

impl Hypercube {
    /// The hypercube of this many agents.
    pub fn new(agents: usize) -> Self {
        Self { agents }
    }

    fn digits(self) -> u32 {
        self.agents.next_power_of_two().trailing_zeros()
    }
}

impl Topology for Hypercube {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        graph.draw(self.agents as f64 * f64::from(self.digits()), |agent, sources| {
            let neighbours = (0..self.digits()).map(|digit| agent ^ (1 << digit));
            neighbours.filter(|&source| source < self.agents).for_each(|source| sources.push(source));
            sources.sort();
        });
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn spread(&self) -> Option<u64> {
        // Clear digits first, then set others: all agents on the way exist. The largest power of
        // two below n and the number before it differ in all digits.
        Some(u64::from(self.digits()))
    }
}
