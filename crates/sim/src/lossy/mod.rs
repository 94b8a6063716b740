//! Whole experiments with message loss, delay and duplicates, with ledgers and without.

mod agent;
mod links;
mod peers;
#[cfg(test)]
mod tests;
mod unledgered;

pub use links::LinkFaults;
pub use peers::LossyPeers;
pub use unledgered::LossyUnledgered;
