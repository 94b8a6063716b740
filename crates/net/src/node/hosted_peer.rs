//! One agent of a node, with what the node keeps of it.

use std::sync::Arc;
use std::time::Duration;

use fabnet_core::{Peer, Scalar};

use super::checkpoint_times::CheckpointTimes;
use super::round_meter::RoundMeter;
use crate::state::Disk;

/// A peer, its disk, and what a node notes of its progress.
pub(super) struct HostedPeer<T: Scalar> {
    pub(super) peer: Peer<T>,
    pub(super) disk: Arc<Disk>,
    /// The rounds that the peer is to do.
    pub(super) rounds: u64,
    /// The largest difference between its mass and its books that was ever seen.
    pub(super) max_residual: u64,
    /// Whether its last record could not be written, which is said once.
    pub(super) is_disk_failing: bool,
    /// When its checkpoints were written.
    pub(super) checkpoints: CheckpointTimes,
    /// How long its rounds take.
    pub(super) meter: RoundMeter,
    /// The last round that it did itself, in this incarnation or before its checkpoint; it may have
    /// skipped others.
    pub(super) worked_in: u64,
    /// The last round that was recorded.
    pub(super) recorded: Option<u64>,
    /// The first metric of the plan there.
    pub(super) metric: Option<f64>,
}

impl<T: Scalar> HostedPeer<T> {
    pub(super) fn new(peer: Peer<T>, disk: Disk, rounds: u64, now: Duration) -> Self {
        let worked_in = peer.round();
        Self {
            peer,
            disk: Arc::new(disk),
            rounds,
            max_residual: 0,
            is_disk_failing: false,
            checkpoints: CheckpointTimes::default(),
            meter: RoundMeter::new(now),
            worked_in,
            recorded: None,
            metric: None,
        }
    }

    /// Whether its own rounds have led it to the end, or nearly so: into the last tenth.
    pub(super) fn is_at_end(&self) -> bool {
        self.worked_in >= self.rounds - self.rounds / 10
    }
}
