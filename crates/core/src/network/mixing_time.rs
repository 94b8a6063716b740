//! How long agents must mix until they agree.

use crate::rng::{EVERYONE, Purpose, Stream};
use crate::{Mixing, Network};

impl Network {
    /// The rounds of mixing after which the values of any two agents differ by this fraction of
    /// what they differed by at first; none if it is not known after `most` rounds, or takes too
    /// long to find out.
    pub fn mixing_time(&self, fraction: f64, most: u64) -> Option<u64> {
        /// Entries of A that are multiplied at most.
        const WORK: usize = 100_000_000;
        let mixings = self.mixings(most);
        let mut values: Vec<f64> = Stream::new(2, EVERYONE, 0, Purpose::Probe).normals(mixings.agents(), 1.0);
        let mut mixed = values.clone();
        let (first, mut work) = (range(&values), 0);
        for round in 0..=most {
            if range(&values) <= fraction * first {
                return Some(round);
            }
            let graph = mixings.order().graph_of(round);
            work += mixings.visit(graph, Mixing::entries);
            if work > WORK {
                break;
            }
            mixings.pull(graph, &values, &mut mixed);
            std::mem::swap(&mut values, &mut mixed);
        }
        None
    }
}

/// The largest difference of two values.
fn range(values: &[f64]) -> f64 {
    let (least, most) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &v| (least.min(v), most.max(v)));
    most - least
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Topology;
    use crate::topology::{Complete, MixedRadix, Ring, Undirected};
    use crate::weights::Uniform;

    fn time(topology: impl Topology + 'static) -> Option<u64> {
        Network::new(Arc::new(topology), Arc::new(Uniform)).mixing_time(1e-3, 2000)
    }

    #[test]
    fn networks_that_average_exactly_take_a_period() {
        assert_eq!((time(Complete::new(9)), time(MixedRadix::new(24))), (Some(1), Some(4)));
    }

    /// A ring's slowest part shrinks by (1 + 2 cos(2π/n))/3 in a round.
    #[test]
    fn rings_take_as_long_as_their_slowest_part() {
        let rate = (1.0 + 2.0 * (std::f64::consts::TAU / 20.0).cos()) / 3.0;
        let expected = 1e-3f64.ln() / rate.ln();
        let found = time(Undirected::new(Box::new(Ring::new(20)))).expect("a ring is connected") as f64;
        assert!((0.6..1.1).contains(&(found / expected)), "{found} instead of {expected}");
        assert_eq!(time(Ring::new(200)), None);
    }
}
