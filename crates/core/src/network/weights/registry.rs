//! The weights by name.

use super::{Alternating, Fixed, FromTopology, Lazy, Metropolis, Uniform, Weights};
use crate::settings::{PART, SettingsReader};

/// Weights of the registry, by their name.
#[derive(Clone, Copy)]
pub struct WeightsKind {
    /// The name, as users write it.
    pub name: &'static str,
    /// What they are, in one line.
    pub about: &'static str,
    /// Reads their settings.
    pub read: fn(&mut SettingsReader<'_>) -> Box<dyn Weights>,
}

/// Every kind of weights there is. A new one is a file, and a line here.
pub fn weights() -> Vec<WeightsKind> {
    let kind = |name, about, read| WeightsKind { name, about, read };
    vec![
        kind("uniform", "equal mixing weights for the agent itself and its neighbours", |_| Box::new(Uniform)),
        kind("lazy", "a fixed mixing weight of the agent itself, the rest divided equally", |keys| {
            Box::new(Lazy::new(keys.number("stay", 0.5, PART, "the mixing weight of the agent itself")))
        }),
        kind("fixed", "one mixing weight for all links; equal ones where the sum would reach 1", |keys| {
            Box::new(Fixed::new(keys.number("weight", 0.2, PART, "the mixing weight of each link")))
        }),
        kind("alternating", "one mixing weight for links into even agents, another for odd ones", |keys| {
            let even = keys.number("even", 0.1, PART, "mixing weight of links into even agents");
            Box::new(Alternating::new(even, keys.number("odd", 0.5, PART, "mixing weight of links into odd agents")))
        }),
        kind("metropolis", "doubly stochastic on undirected graphs", |_| Box::new(Metropolis)),
        kind("topology", "those that the topology brings, such as `base`; Metropolis weights elsewhere", |_| {
            Box::new(FromTopology)
        }),
    ]
}
