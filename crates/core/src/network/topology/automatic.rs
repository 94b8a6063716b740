//! A topology chosen by the number of agents.

use super::mixed_radix::prime_factors;
use super::{MixedRadix, OnePeerExponential, Topology};

/// The network to take when everybody may talk to everybody and links are clean, and why.
///
/// Numbers of agents with small prime factors get exact averages ([`MixedRadix`]); the others one
/// message a round ([`OnePeerExponential`]).
pub fn automatic(agents: usize) -> (Box<dyn Topology>, String) {
    /// Beyond it, a round of the mixed-radix network sends too many messages at once.
    const LARGEST: usize = 5;
    let factors = prime_factors(agents);
    let product = factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" · ");
    match factors.last() {
        Some(&largest) if largest <= LARGEST => {
            let rounds = factors.len();
            let why = format!("mixed-radix, because {agents} = {product}: averages are exact after {rounds} rounds");
            (Box::new(MixedRadix::new(agents)), why)
        }
        _ => {
            let why =
                format!("one-peer-exponential, because {agents} has no small prime factors only: one message a round");
            (Box::new(OnePeerExponential::new(agents)), why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_numbers_get_exact_averages() {
        for (agents, kind) in [
            (8, "mixed-radix"),
            (60, "mixed-radix"),
            (100, "mixed-radix"),
            (7, "one-peer"),
            (1, "one-peer"),
            (62, "one-peer"),
        ] {
            let (topology, why) = automatic(agents);
            assert!(why.starts_with(kind), "{why}");
            assert_eq!(topology.agents(), agents);
        }
    }
}
