//! Partitions: which agent holds which samples.

use fabnet_core::rng::{EVERYONE, Purpose, Stream};

/// The samples of each agent, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition(pub Vec<Vec<usize>>);

impl Partition {
    /// All alike: shuffled and partitioned evenly.
    pub fn even(samples: &[usize], agents: usize, seed: u64) -> Self {
        let order = Stream::new(seed, EVERYONE, 1, Purpose::Partition).permutation(samples.len());
        let hand = |agent: usize| agent * order.len() / agents..(agent + 1) * order.len() / agents;
        Self((0..agents).map(|agent| order[hand(agent)].iter().map(|&place| samples[place]).collect()).collect())
    }

    /// Class by class, in shares drawn from Dirichlet's distribution with this concentration: the
    /// smaller, the fewer classes an agent has.
    ///
    /// Whoever has fewer than the minimum is given random samples of those who have most, one by
    /// one: nothing is drawn again until it fits, so even the smallest concentrations end. There
    /// must be enough for all.
    pub fn dirichlet(
        samples: &[usize],
        labels: &[u32],
        agents: usize,
        concentration: f64,
        minimum: usize,
        seed: u64,
    ) -> Self {
        assert!(minimum * agents <= samples.len(), "there are enough samples for all");
        let classes = samples.iter().map(|&sample| labels[sample] + 1).max().unwrap_or(0);
        let mut hands = vec![Vec::new(); agents];
        for class in 0..classes {
            let mut stream = Stream::new(seed, class as usize, 2, Purpose::Partition);
            let members: Vec<usize> = samples.iter().copied().filter(|&sample| labels[sample] == class).collect();
            let order = stream.permutation(members.len());
            let shares = dirichlet(&mut stream, agents, concentration);
            let mut sum = 0.0;
            let mut start = 0;
            for (hand, share) in hands.iter_mut().zip(shares) {
                sum += share;
                let end = ((sum * members.len() as f64).round() as usize).clamp(start, members.len());
                hand.extend(order[start..end].iter().map(|&place| members[place]));
                start = end;
            }
            // The shares sum to 1 up to rounding only.
            hands[agents - 1].extend(order[start..].iter().map(|&place| members[place]));
        }
        for (agent, hand) in hands.iter_mut().enumerate() {
            let order = Stream::new(seed, agent, 3, Purpose::Partition).permutation(hand.len());
            *hand = order.iter().map(|&place| hand[place]).collect();
        }
        while let Some(poor) = hands.iter().position(|hand| hand.len() < minimum) {
            let rich = (0..agents).max_by_key(|&agent| (hands[agent].len(), agent)).expect("there are agents");
            let given = hands[rich].pop().expect("the richest has more than the minimum");
            hands[poor].push(given);
        }
        Self(hands)
    }
}

/// Shares that sum to 1. With small concentrations the gamma variables behind them are too small
/// for a number, so their logarithms are taken.
fn dirichlet(stream: &mut Stream, count: usize, concentration: f64) -> Vec<f64> {
    let logarithms: Vec<f64> = (0..count).map(|_| log_gamma_variable(stream, concentration)).collect();
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logarithms.iter().map(|logarithm| (logarithm - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The logarithm of a gamma variable (Marsaglia and Tsang 2000), through that of shape + 1 because
/// theirs needs a shape of at least 1.
fn log_gamma_variable(stream: &mut Stream, shape: f64) -> f64 {
    let d = shape + 1.0 - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    let raised = loop {
        let (normal, _) = stream.normal_pair();
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && stream.open01().ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            break (d * v).ln();
        }
    };
    raised + stream.open01().ln() / shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(partition: &Partition) -> Vec<usize> {
        let mut all: Vec<usize> = partition.0.iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn every_sample_has_one_owner_and_every_agent_enough() {
        let labels: Vec<u32> = (0..2000).map(|sample| (sample * sample + sample / 7) % 10).collect();
        let samples: Vec<usize> = (0..2000).filter(|sample| sample % 3 > 0).collect();
        for concentration in [0.001, 0.05, 0.5, 10.0] {
            for (agents, minimum) in [(1, 5), (10, 50), (100, 13)] {
                for seed in 0..5 {
                    let partition = Partition::dirichlet(&samples, &labels, agents, concentration, minimum, seed);
                    assert_eq!(all(&partition), samples);
                    assert!(partition.0.iter().all(|hand| hand.len() >= minimum));
                }
            }
        }
        assert_eq!(all(&Partition::even(&samples, 7, 1)), samples);
    }

    /// The smaller the concentration, the more of an agent's samples are of one class.
    #[test]
    fn concentration_is_what_it_says() {
        let labels: Vec<u32> = (0..10_000).map(|sample| sample % 10).collect();
        let samples: Vec<usize> = (0..10_000).collect();
        let purity = |partition: Partition| {
            let of = |hand: &Vec<usize>| {
                let count = |class| hand.iter().filter(|&&sample| labels[sample] == class).count();
                (0..10).map(count).max().unwrap_or(0) as f64 / hand.len() as f64
            };
            partition.0.iter().map(of).sum::<f64>() / 10.0
        };
        let at = |concentration| purity(Partition::dirichlet(&samples, &labels, 10, concentration, 20, 4));
        let even = purity(Partition::even(&samples, 10, 4));
        assert!(even < 0.13 && at(1000.0) < 0.13, "{even} {}", at(1000.0));
        assert!(at(1.0) > 0.25 && at(0.05) > at(0.5) + 0.2, "{} {} {}", at(1.0), at(0.5), at(0.05));
    }
}
