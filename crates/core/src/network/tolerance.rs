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
/// for some (2π/n)³/16. `spread` says how long to look. None if trials on this network take too
/// long.
pub fn tolerated_step(
    topology: Arc<dyn Topology>,
    weights: Arc<dyn Weights>,
    momentum: f64,
    spread: u64,
) -> Option<f64> {
    const HALVINGS: i32 = 24;
    let affordable = Trial::affordable(&*topology, spread);
    let mut network = Network::new(topology, weights);
    let mut tolerated = |step| Trial::new(network.agents()).contracts(&mut network, step, momentum, spread);
    let step = |halvings| 0.5f64.powi(halvings);
    let found = (0..HALVINGS.min(affordable)).map(step).find(|&step| tolerated(step));
    found.or_else(|| (affordable >= HALVINGS).then(|| step(HALVINGS)))
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

    /// Entries of A that all trials together may visit.
    const WORK: f64 = 5e8;
    /// Fewer trials seldom find a step that is tolerated.
    const LEAST: i32 = 4;

    /// The number of trials that can be made: none if they are too few to be of use.
    fn affordable(topology: &dyn Topology, spread: u64) -> i32 {
        let entries = topology.links() + topology.agents() as f64;
        let trials = Self::WORK / (entries * 4.0 * Self::quarter(spread) as f64);
        if trials < f64::from(Self::LEAST) { 0 } else { trials as i32 }
    }

    /// The rounds of a quarter of a trial.
    fn quarter(spread: u64) -> u64 {
        Self::LENGTH * spread.max(2) / 4
    }

    fn new(agents: usize) -> Self {
        let y: Vec<f64> = Stream::new(0, EVERYONE, 0, Purpose::Probe).normals(agents, 1.0);
        Self { t: y.clone(), m: vec![0.0; agents], mixed: [y.clone(), y.clone()], y }
    }

    /// Whether the last quarter of the trial is smaller than the one before.
    fn contracts(mut self, network: &mut Network, step: f64, momentum: f64, spread: u64) -> bool {
        let quarter = Self::quarter(spread);
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
            let tolerated = tolerated_step(Arc::new(Ring::new(n)), Arc::new(Uniform), 0.0, n as u64 - 1).unwrap();
            let theory = (std::f64::consts::TAU / n as f64).powi(3) / 16.0;
            assert!((0.5..=2.5).contains(&(tolerated / theory)), "{n} agents: {tolerated} against {theory}");
        }
    }

    /// With exact averages t is the mean's slope, one round late: y⁺ = y − ηt and t⁺ = y⁺ + (t − y)
    /// leave the circle at η = ½.
    #[test]
    fn the_complete_graph_tolerates_a_quarter() {
        assert_eq!(tolerated_step(Arc::new(Complete::new(12)), Arc::new(Uniform), 0.0, 1), Some(0.25));
    }

    #[test]
    fn trials_that_take_too_long_are_not_made() {
        let tolerated = |agents, spread| tolerated_step(Arc::new(Ring::new(agents)), Arc::new(Uniform), 0.0, spread);
        // The first four step sizes are too large, and no more trials than these can be made.
        assert_eq!((tolerated(100, 9000), tolerated(1_000_000, 999_999)), (None, None));
        assert!(tolerated(100, 99).is_some());
    }
}
