//! The largest step size that a network tolerates, found by trying.

use std::sync::Arc;

use super::topology::Topology;
use crate::rng::{EVERYONE, Purpose, Stream};
use crate::{Network, Weights};

/// The longest step, as a power of ½, with which push-pull brings agents together on this network
/// when every agent holds ½y², heavy ball included; 1 at most.
///
/// ```text
/// m⁺ = βm + (1 − β)t      y⁺ = A y − η m⁺      t⁺ = B t + y⁺ − y
/// ```
/// Slow networks need far smaller step sizes than the curvature does: a directed ring of n agents
/// for some (2π/n)³/16. `spread` says how long to look.
pub fn tolerated_step(topology: Arc<dyn Topology>, weights: Arc<dyn Weights>, momentum: f64, spread: u64) -> f64 {
    const HALVINGS: i32 = 24;
    let mut network = Network::new(topology, weights);
    let tolerated =
        |network: &mut Network, step: f64| Trial::new(network.agents()).contracts(network, step, momentum, spread);
    (0..HALVINGS)
        .map(|halvings| 0.5f64.powi(halvings))
        .find(|&step| tolerated(&mut network, step))
        .unwrap_or(0.5f64.powi(HALVINGS))
}

/// The state of a trial: scalars of all agents.
struct Trial {
    y: Vec<f64>,
    t: Vec<f64>,
    m: Vec<f64>,
    mixed: [Vec<f64>; 2],
}

impl Trial {
    /// Rounds, in times the spread: enough for what grows slowly to show.
    const LENGTH: u64 = 60;

    fn new(agents: usize) -> Self {
        let y: Vec<f64> = Stream::new(0, EVERYONE, 0, Purpose::Probe).normals(agents, 1.0);
        Self { t: y.clone(), m: vec![0.0; agents], mixed: [y.clone(), y.clone()], y }
    }

    /// Whether the last quarter of the trial is smaller than the one before.
    fn contracts(mut self, network: &mut Network, step: f64, momentum: f64, spread: u64) -> bool {
        let quarter = Self::LENGTH * spread.max(2) / 4;
        let mut sizes = [0.0f64; 4];
        for round in 0..4 * quarter {
            self.round(network, round, step, momentum);
            let size = self.y.iter().chain(&self.t).map(|value| value * value).sum::<f64>();
            if !size.is_finite() {
                return false;
            }
            let place = (round / quarter) as usize;
            sizes[place] = sizes[place].max(size);
        }
        sizes[3] < 0.9 * sizes[2] || sizes[3] < 1e-20 * sizes[0]
    }

    fn round(&mut self, network: &mut Network, round: u64, step: f64, momentum: f64) {
        network.advance(round);
        let mixing = network.current();
        for agent in 0..self.y.len() {
            let row = mixing.row(agent);
            let sum = |weights: &[f64], values: &[f64]| {
                row.sources.iter().zip(weights).map(|(&source, weight)| weight * values[source as usize]).sum::<f64>()
            };
            self.mixed[0][agent] = sum(row.pull, &self.y);
            self.mixed[1][agent] = sum(row.push, &self.t);
        }
        for agent in 0..self.y.len() {
            self.m[agent] = momentum * self.m[agent] + (1.0 - momentum) * self.t[agent];
            let y = self.mixed[0][agent] - step * self.m[agent];
            self.t[agent] = self.mixed[1][agent] + y - self.y[agent];
            self.y[agent] = y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Complete, Ring};
    use crate::weights::Uniform;

    /// On a ring the slowest mode has λ = cos(θ/2)·e^(−iθ/2) with θ = 2π/n, and grows once √(ηθ/4)
    /// exceeds θ²/8.
    #[test]
    fn rings_tolerate_what_their_slowest_mode_does() {
        for n in [10, 20, 40] {
            let tolerated = tolerated_step(Arc::new(Ring::new(n)), Arc::new(Uniform), 0.0, n as u64 - 1);
            let theory = (std::f64::consts::TAU / n as f64).powi(3) / 16.0;
            assert!((0.5..=2.5).contains(&(tolerated / theory)), "{n} agents: {tolerated} against {theory}");
        }
    }

    /// With exact averages t is the mean's slope, one round late: y⁺ = y − ηt and t⁺ = y⁺ + (t − y)
    /// leave the circle at η = ½.
    #[test]
    fn the_complete_graph_tolerates_a_quarter() {
        assert_eq!(tolerated_step(Arc::new(Complete::new(12)), Arc::new(Uniform), 0.0, 1), 0.25);
    }
}
