//! The configuration of a peer.

use std::sync::Arc;

use super::ledger::Unit;
use super::neighbours::NeighbourSource;
use super::policy::Policy;
use super::wire::WordLength;
use crate::{Algorithm, Problem, Scalar, Weights};

/// What a peer solves, by which method, and with which neighbours.
#[derive(Clone)]
pub struct PeerConfig<T: Scalar> {
    /// The method that is run.
    pub algorithm: Arc<dyn Algorithm<T>>,
    /// The problem that is solved.
    pub problem: Arc<dyn Problem<T>>,
    /// The seed of the run.
    pub seed: u64,
    /// The agent of the problem that this peer is, which is also its name among the peers.
    pub node: u32,
    /// The number of the run: messages of other runs are refused.
    pub run: u64,
    /// The unit in which mass is booked.
    pub unit: Unit,
    /// The length of the words in which scalars and mass travel.
    pub words: WordLength,
    /// The neighbours of each round.
    pub schedule: NeighbourSource,
    /// The mixing weights of these neighbours.
    pub weights: Arc<dyn Weights>,
    /// How long the peer waits for what.
    pub policy: Policy,
}

impl<T: Scalar> PeerConfig<T> {
    /// The length of the words that the peers of this run use: full ones, if the method does not
    /// bear rounding.
    pub fn word_length(&self) -> WordLength {
        if self.algorithm.bears_rounding() { self.words } else { WordLength::Full }
    }
}
