//! Small worlds: a ring with shortcuts.

use super::{Topology, halved};
use crate::Digraph;
use crate::rng::{Purpose, Stream};

/// A ring on which every agent exchanges with its nearest on both sides, and on which each of these
/// links brings with one probability a shortcut to a random agent (Newman and Watts 1999). Unlike
/// links that are moved (Watts and Strogatz 1998), shortcuts that are added never cut the graph
/// apart. Drawn once.
#[derive(Clone, Copy, Debug)]
pub struct SmallWorld {
    agents: usize,
    nearest: usize,
    shortcut_probability: f64,
    seed: u64,
}

impl SmallWorld {
    /// With this number of nearest on each side, or all agents if there are fewer, and shortcuts
    /// with this probability.
    pub fn new(agents: usize, nearest: usize, shortcut_probability: f64, seed: u64) -> Self {
        Self { agents, nearest: nearest.min(agents / 2), shortcut_probability, seed }
    }
}

impl Topology for SmallWorld {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        let mut links = Vec::new();
        for agent in 0..self.agents {
            let mut stream = Stream::new(self.seed, agent, 0, Purpose::Edges);
            for distance in 1..=self.nearest {
                let nearest = (agent + distance) % self.agents;
                let shortcut = (stream.open01() < self.shortcut_probability).then(|| stream.below(self.agents));
                let ends = std::iter::once(nearest).chain(shortcut);
                links.extend(ends.flat_map(|other| [(agent, other), (other, agent)]));
            }
        }
        graph.set_links(&mut links);
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn links(&self) -> f64 {
        let agents = self.agents as f64;
        (2.0 * agents * self.nearest as f64 * (1.0 + self.shortcut_probability)).min(agents * (agents - 1.0))
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        let agents = halved(self.agents, most);
        Some(Box::new(Self::new(agents, self.nearest, self.shortcut_probability, self.seed)))
    }
}
