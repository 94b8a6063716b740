//! What a node records of its agents.

use fabnet_core::{Peer, Scalar};

/// Records the points of agents at the rounds that the plan says.
pub trait Recorder<T: Scalar> {
    /// Records the point of a peer after a round, scalar by scalar. Returns the first metric of the
    /// plan there, where it can be measured for one agent alone.
    fn record(&mut self, peer: &Peer<T>, round: u64, point: &[u8]) -> Option<f64>;

    /// Tries again to write what could not be written, and makes what was written survive a power
    /// cut. Nobody waits until that is done.
    fn secure(&mut self);

    /// Does the same at the end, when nothing else waits for the disk, and says which records are
    /// missing.
    fn finish(&mut self) -> Result<(), UnwrittenRecords>;
}

/// Records that could not be written: what is missing, and why, of each file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct UnwrittenRecords(pub Vec<String>);
