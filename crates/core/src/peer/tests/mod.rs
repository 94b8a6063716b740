//! Whole peers that talk to each other.

pub(super) mod fixtures;
mod gossip;
mod held;
mod rules;
mod snapshot;
