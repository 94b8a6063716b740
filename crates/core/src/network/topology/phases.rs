//! The paper's cycle of three phases.

use super::{ErdosRenyi, Redraw, Ring, Topology, halved};
use crate::Digraph;

/// The time-varying network of the paper: by turns, ten rounds each, a ring with Erdős–Rényi links
/// (drawn once), a directed ring, and the reversed ring.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    random: ErdosRenyi,
    rings: [Ring; 2],
    rounds: u64,
}

impl Phases {
    /// Random links exist with this probability.
    pub fn new(agents: usize, edge_probability: f64, seed: u64) -> Self {
        let random = ErdosRenyi::new(agents, edge_probability, seed, Redraw::Once).with_ring();
        Self { random, rings: [Ring::new(agents), Ring::reversed(agents)], rounds: 10 }
    }

    /// With phases of this many rounds instead of ten.
    pub fn with_rounds(self, rounds: u64) -> Self {
        Self { rounds: rounds.max(1), ..self }
    }
}

impl Topology for Phases {
    fn agents(&self) -> usize {
        self.random.agents()
    }

    fn graph_of(&self, round: u64) -> u64 {
        (round / self.rounds) % 3
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        match name {
            0 => self.random.draw(0, graph),
            ring => self.rings[ring as usize - 1].draw(0, graph),
        }
    }

    fn period(&self) -> Option<u64> {
        Some(3 * self.rounds)
    }

    fn links(&self) -> f64 {
        self.random.links()
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        let agents = halved(self.agents(), most);
        let rings = [Ring::new(agents), Ring::reversed(agents)];
        Some(Box::new(Self { random: self.random.shrunk_to(agents), rings, ..*self }))
    }
}
