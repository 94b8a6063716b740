//! Reachability: who hears of whom over the rounds, and how soon. The time is linear in the links,
//! or bounded by a budget, for any number of agents.

mod components;
mod condensation;
mod earliest_arrival;
mod flooding;
mod flow;
mod graph_sequence;
mod hub;
mod reach;
mod rounds;
mod window;

#[cfg(test)]
mod tests;

pub use components::Components;
pub use reach::Reach;
pub use rounds::Rounds;
