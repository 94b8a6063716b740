//! Whole peers that talk to each other.

pub(super) mod fixtures;
mod gossip;
mod held;
mod liars;
mod rules;
mod sealed;
mod snapshot;
mod victim;
