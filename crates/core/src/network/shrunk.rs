//! Small networks that stand for large ones.

use super::reachability::{Reach, Rounds};
use crate::Network;

impl Network {
    /// A network of the same kind with at most this many agents, and the rounds after which
    /// information from any agent has reached all in it; none if there is no such.
    pub(crate) fn shrunk(&self, most: usize) -> Option<(Self, u64)> {
        /// The rounds of a sequence of graphs without a period that are looked at.
        const WINDOW: u64 = 100;
        let topology = self.topology().shrunk(most)?;
        let spread = Reach::new(&*topology, WINDOW).spread().map(Rounds::bound)?;
        Some((Self::new(topology.into(), self.weights().clone()), spread))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::topology::examples;
    use crate::weights::Uniform;

    /// Every topology that can be shrunk keeps its kind: as many neighbours for each agent, and
    /// news that travels no slower.
    #[test]
    fn shrunk_networks_are_smaller_and_connected_and_as_dense() {
        let mut shrunk = 0;
        for (name, topology) in examples(96, 3) {
            let (links, spread) = (topology.links() / 96.0, Reach::new(&*topology, 100).spread().map(Rounds::bound));
            let network = Network::new(topology.into(), Arc::new(Uniform));
            let Some((small, small_spread)) = network.shrunk(50) else { continue };
            shrunk += 1;
            assert!((12..=50).contains(&small.agents()), "{name}: {} agents", small.agents());
            let small_links = small.topology().links() / small.agents() as f64;
            // No agent has more neighbours than there are others.
            let expected = links.min(small.agents() as f64 - 1.0);
            assert!((small_links / expected - 1.0).abs() < 0.1, "{name}: {small_links} links, {links} before");
            assert!(spread.is_some_and(|spread| small_spread <= spread), "{name}: {small_spread} rounds");
        }
        assert!(shrunk >= 7, "only {shrunk} can be shrunk");
    }
}
