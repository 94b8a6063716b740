//! Erdős–Rényi random graphs.

use super::{Ring, Topology, halved};
use crate::rng::{Purpose, Stream};
use crate::{Digraph, Sources};

/// Each possible link exists with one probability, independently; optionally on top of a ring,
/// which makes the graph strongly connected.
///
/// Drawn row by row by skipping ahead to the next link (Batagelj and Brandes 2005), so that the
/// time is proportional to the links, not to n².
#[derive(Clone, Copy, Debug)]
pub struct ErdosRenyi {
    agents: usize,
    edge_probability: f64,
    seed: u64,
    redraw: Redraw,
    ring: Option<Ring>,
}

/// How often a random graph is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redraw {
    /// The graph is drawn once, for the whole run.
    #[default]
    Once,
    /// The graph is drawn anew in every round.
    EveryRound,
}

impl ErdosRenyi {
    /// Links exist with this probability.
    pub fn new(agents: usize, edge_probability: f64, seed: u64, redraw: Redraw) -> Self {
        Self { agents, edge_probability, seed, redraw, ring: None }
    }

    /// The same graph with a directed ring added.
    pub fn with_ring(self) -> Self {
        Self { ring: Some(Ring::new(self.agents)), ..self }
    }

    /// The same with fewer agents that have as many neighbours each.
    pub(super) fn shrunk_to(&self, agents: usize) -> Self {
        let others = |agents: usize| agents.saturating_sub(1) as f64;
        let edge_probability = (self.edge_probability * others(self.agents) / others(agents).max(1.0)).min(1.0);
        Self { agents, edge_probability, ring: self.ring.map(|_| Ring::new(agents)), ..*self }
    }

    /// Appends the sources of an agent, ascending: from link to link by geometric steps over the n
    /// − 1 others.
    fn append_sources(&self, name: u64, rate: f64, agent: usize, sources: &mut Sources<'_>) {
        let mut stream = Stream::new(self.seed, agent, name, Purpose::Edges);
        let mut ring = self.ring.and_then(|ring| ring.source(agent)).map_or(u32::MAX, |source| source as u32);
        let (agent, others) = (agent as u32, self.agents as u32 - 1);
        let mut place = 0;
        'links: loop {
            for failures in stream.failures::<8>(rate, f64::from(others)) {
                place += failures;
                if place >= others {
                    break 'links;
                }
                // The agent itself has no place among the others.
                let source = place + u32::from(place >= agent);
                if ring <= source {
                    if ring < source {
                        sources.push(ring as usize);
                    }
                    ring = u32::MAX;
                }
                sources.push(source as usize);
                place += 1;
            }
        }
        if ring < u32::MAX {
            sources.push(ring as usize);
        }
    }
}

impl Topology for ErdosRenyi {
    fn agents(&self) -> usize {
        self.agents
    }

    fn graph_of(&self, round: u64) -> u64 {
        match self.redraw {
            Redraw::Once => 0,
            Redraw::EveryRound => round,
        }
    }

    fn draw(&self, name: u64, graph: &mut Digraph) {
        let expected = self.links();
        // P(ln u · rate ≥ k) = (1 − p)ᵏ. For p = 1 the rate is −0, and no place is skipped; for p =
        // 0 it is −∞, and all are.
        let rate = (-self.edge_probability).ln_1p().recip();
        graph.draw(expected, |agent, sources| self.append_sources(name, rate, agent, sources));
    }

    fn period(&self) -> Option<u64> {
        (self.redraw == Redraw::Once).then_some(1)
    }

    fn links(&self) -> f64 {
        let agents = self.agents as f64;
        let ring = self.ring.map_or(0.0, |ring| ring.links());
        let others = agents * (agents - 1.0) - ring;
        ring + self.edge_probability * others
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        Some(Box::new(self.shrunk_to(halved(self.agents, most))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_as_frequent_as_asked_for() {
        let mut graph = Digraph::new(400);
        for probability in [0.0, 0.01, 0.3, 1.0] {
            ErdosRenyi::new(400, probability, 5, Redraw::Once).draw(0, &mut graph);
            let expected = 400.0 * 399.0 * probability;
            let tolerance = 5.0 * (expected * (1.0 - probability)).sqrt();
            assert!((graph.edges() as f64 - expected).abs() <= tolerance, "{} links at {probability}", graph.edges());
            assert!(graph.links().all(|(source, target)| source != target));
            assert!((0..400).all(|agent| graph.sources(agent).is_sorted_by(|a, b| a < b)));
        }
    }

    #[test]
    fn a_ring_on_top_is_whole() {
        let mut graph = Digraph::new(50);
        ErdosRenyi::new(50, 0.1, 1, Redraw::Once).with_ring().draw(0, &mut graph);
        for agent in 0..50 {
            let sources = graph.sources(agent);
            assert!(sources.contains(&(((agent + 49) % 50) as u32)) && sources.is_sorted_by(|a, b| a < b));
        }
    }
}
