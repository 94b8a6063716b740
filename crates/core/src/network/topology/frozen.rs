//! A topology that stands still.

use super::Topology;
use crate::Digraph;

/// Another topology's graph of round 0, for ever.
pub struct Frozen {
    inner: Box<dyn Topology>,
}

impl Frozen {
    /// Keeps the graph of round 0 of another topology for ever.
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

    fn strides(&self, name: u64) -> Option<Vec<usize>> {
        self.inner.strides(name)
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn links(&self) -> f64 {
        self.inner.links()
    }

    fn spread(&self) -> Option<u64> {
        // If the other topology stands still, both are the same.
        self.inner.spread().filter(|_| self.inner.period() == Some(1))
    }

    fn shrunk(&self, most: usize) -> Option<Box<dyn Topology>> {
        self.inner.shrunk(most).map(|inner| Box::new(Self::new(inner)) as Box<dyn Topology>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{OnePeerExponential, Phases, Ring};

    #[test]
    fn the_first_graph_stays() {
        let (changing, frozen) = (Phases::new(9, 0.3, 2), Frozen::new(Box::new(Phases::new(9, 0.3, 2))));
        let (mut first, mut graph) = (Digraph::new(9), Digraph::new(9));
        changing.draw(changing.graph_of(0), &mut first);
        for round in [0, 5, 10, 25, 1000] {
            frozen.draw(frozen.graph_of(round), &mut graph);
            assert!(graph.links().eq(first.links()), "round {round}");
        }
        assert_eq!((frozen.agents(), frozen.period()), (9, Some(1)));
    }

    #[test]
    fn the_spread_of_what_moves_is_not_that_of_its_first_graph() {
        assert_eq!(Frozen::new(Box::new(Ring::new(8))).spread(), Some(7));
        assert_eq!(Frozen::new(Box::new(OnePeerExponential::new(8))).spread(), None);
    }
}
