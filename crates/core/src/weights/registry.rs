//! The weights by name.

use super::{Alternating, Fixed, Lazy, Metropolis, Uniform, Weights};
use crate::settings::{Keys, PART};

/// A named kind of weights.
#[derive(Clone, Copy)]
pub struct Kind {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    /// Asks for its settings.
    pub read: fn(&mut Keys<'_>) -> Box<dyn Weights>,
}

/// Every kind of weights there is. A new one is a file, and a line here.
pub fn weights() -> Vec<Kind> {
    let kind = |name, about, read| Kind { name, about, read };
    vec![
        kind("uniform", "equal parts for oneself and every neighbour", |_| Box::new(Uniform)),
        kind("lazy", "a fixed part stays, the rest is divided equally", |keys| {
            Box::new(Lazy::new(keys.number("stay", 0.5, PART, "the part that stays with oneself")))
        }),
        kind("fixed", "one weight for every link, equal parts where that is too much", |keys| {
            Box::new(Fixed::new(keys.number("weight", 0.2, PART, "of each link")))
        }),
        kind("alternating", "one weight for links into even agents, another into odd ones", |keys| {
            let even = keys.number("even", 0.1, PART, "of links into even agents");
            Box::new(Alternating::new(even, keys.number("odd", 0.5, PART, "of links into odd agents")))
        }),
        kind("metropolis", "doubly stochastic on undirected graphs", |_| Box::new(Metropolis)),
    ]
}
