//! How fast a graph that does not change mixes.

use super::mixing_sequence::MixingSequence;
use crate::rng::{EVERYONE, Purpose, Stream};
use crate::{Network, linalg};

impl Network {
    /// The second largest absolute value of an eigenvalue of A on a graph that does not change, by
    /// power iteration on what is left of a vector when its limit is taken out.
    pub(crate) fn second_eigenvalue(&self) -> f64 {
        /// Entries of A that are multiplied at most.
        const WORK: usize = 50_000_000;
        let mixings = self.mixings(1);
        let agents = mixings.agents();
        let mut values: Vec<f64> = Stream::new(1, EVERYONE, 0, Purpose::Probe).normals(agents, 1.0);
        let most = mixings.visit(0, |mixing| WORK / mixing.entries().max(1));
        let mut mixed = values.clone();
        let mut changes = Vec::new();
        for _ in 0..(20 * agents).max(300).min(most) {
            mixings.pull(0, &values, &mut mixed);
            // The differences of successive vectors have no part in the limit.
            let change = linalg::distance_squared(&mixed, &values).sqrt();
            changes.push(change);
            std::mem::swap(&mut values, &mut mixed);
            let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
            if change <= 1e-12 * largest {
                break;
            }
        }
        let tail = changes.len() / 10 + 1;
        match changes.len() {
            0..3 => 0.0,
            len => (changes[len - 1] / changes[len - 1 - tail]).powf(1.0 / tail as f64),
        }
    }
}

impl MixingSequence<'_> {
    /// `mixed = A values` on one graph.
    pub(super) fn pull(&self, graph: usize, values: &[f64], mixed: &mut [f64]) {
        self.visit(graph, |mixing| {
            for (agent, mixed) in mixed.iter_mut().enumerate() {
                let row = mixing.row(agent);
                *mixed = row.sources.iter().zip(row.pull).map(|(&source, a)| a * values[source as usize]).sum();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::topology::{Ring, Undirected};
    use crate::weights::Uniform;

    /// An undirected ring of n agents with uniform weights has the second eigenvalue
    /// (1 + 2 cos(2π/n))/3.
    #[test]
    fn the_second_eigenvalue_of_a_ring_is_the_known_one() {
        for agents in [8, 25] {
            let ring = Undirected::new(Box::new(Ring::new(agents)));
            let found = Network::new(Arc::new(ring), Arc::new(Uniform)).second_eigenvalue();
            let expected = (1.0 + 2.0 * (std::f64::consts::TAU / agents as f64).cos()) / 3.0;
            assert!((found - expected).abs() < 2e-3, "{agents} agents: {found} instead of {expected}");
        }
    }
}
