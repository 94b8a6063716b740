//! Erdős–Rényi random graphs.

use super::{Ring, Topology};
use crate::Digraph;
use crate::rng::{Purpose, Stream};

/// Each possible link exists with one probability, independently; optionally on top of a ring, which makes the graph strongly connected.
///
/// Drawn row by row by skipping ahead to the next link (Batagelj and Brandes 2005), so that the time is proportional to the links, not to n².
#[derive(Clone, Copy, Debug)]
pub struct ErdosRenyi {
    agents: usize,
    edge_probability: f64,
    seed: u64,
    redraw: Redraw,
    ring: Option<Ring>,
}

/// When a random graph is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redraw {
    /// Once, for the whole run.
    #[default]
    Once,
    /// Anew in every round.
    EveryRound,
}

impl ErdosRenyi {
    /// Links with this probability.
    pub fn new(agents: usize, edge_probability: f64, seed: u64, redraw: Redraw) -> Self {
        Self { agents, edge_probability, seed, redraw, ring: None }
    }

    /// The same, augmented by a directed ring.
    pub fn with_ring(self) -> Self {
        Self { ring: Some(Ring::new(self.agents)), ..self }
    }

    /// The sources of an agent, ascending.
    pub(super) fn sources(&self, name: u64, agent: usize) -> impl Iterator<Item = usize> {
        let ring = self.ring.and_then(|ring| ring.source(agent));
        merge(Skips::new(self, name, agent), ring)
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
        graph.clear(self.agents as f64 * (self.agents as f64 * self.edge_probability + 1.0));
        for agent in 0..self.agents {
            graph.push_row(self.sources(name, agent));
        }
    }

    fn period(&self) -> Option<u64> {
        (self.redraw == Redraw::Once).then_some(1)
    }
}

/// The random sources of one agent: from link to link by geometric steps.
struct Skips {
    stream: Stream,
    /// 1 / ln(1 − p).
    rate: f64,
    position: f64,
    agents: usize,
    agent: usize,
}

impl Skips {
    fn new(graph: &ErdosRenyi, name: u64, agent: usize) -> Self {
        let stream = Stream::new(graph.seed, agent, name, Purpose::Edges);
        Self { stream, rate: (-graph.edge_probability).ln_1p().recip(), position: -1.0, agents: graph.agents, agent }
    }
}

impl Iterator for Skips {
    type Item = usize;

    /// Walks over the n − 1 others; the place of the agent itself is left out of the numbering. For p = 1 the rate is −0: no place is skipped;
    /// for p = 0 it is −∞: all are.
    fn next(&mut self) -> Option<usize> {
        self.position += 1.0 + (self.stream.open01().ln() * self.rate).floor();
        let place = self.position as usize;
        (self.position < (self.agents - 1) as f64).then(|| if place < self.agent { place } else { place + 1 })
    }
}

/// Ascending sources with one more, if it is not among them.
fn merge(sources: impl Iterator<Item = usize>, extra: Option<usize>) -> impl Iterator<Item = usize> {
    let mut sources = sources.peekable();
    let mut extra = extra;
    std::iter::from_fn(move || match (sources.peek().copied(), extra) {
        (Some(source), Some(more)) if more <= source => {
            extra = None;
            sources.next_if_eq(&more);
            Some(more)
        }
        (None, Some(more)) => {
            extra = None;
            Some(more)
        }
        _ => sources.next(),
    })
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
