//! Scale-free graphs, which have few large hubs.

use super::{Topology, halved};
use crate::Digraph;
use crate::rng::{Purpose, Stream};

/// Agents that join one after the other and link both ways to some that are there, the more likely
/// the more links those have: few agents end up with very many neighbours (Barabási and Albert
/// 1999). Drawn once, and always connected.
#[derive(Clone, Copy, Debug)]
pub struct ScaleFree {
    agents: usize,
    links_each: usize,
    seed: u64,
}

impl ScaleFree {
    /// Each agent that joins makes this number of links.
    pub fn new(agents: usize, links_each: usize, seed: u64) -> Self {
        Self { agents, links_each, seed }
    }
}

impl Topology for ScaleFree {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        // Every end of a link, so that a random one belongs to an agent in proportion to its links.
        let mut ends: Vec<usize> = Vec::new();
        let mut links = Vec::new();
        for agent in 1..self.agents {
            let mut stream = Stream::new(self.seed, agent, 0, Purpose::Edges);
            let mut chosen: Vec<usize> = Vec::new();
            if agent <= self.links_each {
                chosen.extend(0..agent);
            }
            while chosen.len() < self.links_each.min(agent) {
                let other = ends[stream.below(ends.len())];
                if !chosen.contains(&other) {
                    chosen.push(other);
                }
            }
            for other in chosen {
                links.extend([(agent, other), (other, agent)]);
                ends.extend([agent, other]);
            }
        }
        graph.set_links(&mut links);
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn links(&self) -> f64 {
        (1..self.agents).map(|agent| 2.0 * self.links_each.min(agent) as f64).sum()
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        Some(Box::new(Self { agents: halved(self.agents, most), ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_agents_have_many_neighbours() {
        let (topology, mut graph) = (ScaleFree::new(2000, 2, 3), Digraph::new(2000));
        topology.draw(0, &mut graph);
        assert_eq!(graph.edges() as f64, topology.links());
        let mut degrees: Vec<usize> = (0..2000).map(|agent| graph.in_degree(agent)).collect();
        degrees.sort_unstable();
        assert!((0..2000).all(|agent| graph.in_degree(agent) == graph.out_degree(agent)));
        // With P(degree) ~ 2m²/degree³ half of all have two or three, and the largest about m·√n.
        assert!(degrees[1000] <= 3 && degrees[0] >= 2 && degrees[1999] > 40, "{} {}", degrees[1000], degrees[1999]);
    }
}
