//! The policy of a peer: how long it waits for what.

/// How long a peer waits for what.
///
/// Times are in ticks, which the driver of a peer makes at a steady pace. A free-running peer does
/// one round in each tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Whether rounds wait for messages.
    pub sync: SyncMode,
    /// Ticks without a sign of life after which a member counts as dead. It must be more than
    /// gossip needs to reach everybody.
    pub evict_after: u64,
    /// Ticks without an acknowledgement after which an edge gets no more mass.
    pub unreachable_after: u64,
    /// Ticks without an acknowledgement after which the edge is closed and its mass taken back.
    pub close_after: u64,
    /// Rounds after a change for which the table travels with every message.
    pub attach_for: u64,
    /// Attach the table to every n-th message to a peer, whether it has changed or not.
    pub attach_every: u64,
    /// Begin a new epoch when an undone edge changes the mass by more than this multiple of its
    /// usual size.
    pub large_reversal: f64,
    /// Rounds between two checkpoints; there are none if it is 0.
    pub checkpoint_every: u64,
    /// Whether messages wait until the state they depend on is on disk, so that a node can go on in
    /// the same life after a crash.
    pub exact: bool,
    /// The round after which a peer only answers others.
    pub rounds: u64,
    /// Whether the first round waits for [`Command::Begin`](super::Command::Begin), or for a
    /// message of a peer that has begun. Until then a peer exchanges nothing but signs of life.
    pub held: bool,
}

/// Whether rounds wait for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// A round waits for the messages of its sources until a deadline. The first round waits for
    /// everybody, ten times as long.
    Lockstep {
        /// Ticks after which a round goes on without the messages that are missing.
        deadline: u64,
    },
    /// A round uses the messages that have arrived.
    Free,
}

impl Policy {
    /// The usual policy of a run among this many nodes.
    ///
    /// Times grow with the number of nodes, because on a ring gossip needs one round for each node.
    pub fn new(sync: SyncMode, nodes: usize) -> Self {
        let nodes = nodes as u64;
        Self {
            sync,
            evict_after: 60 + 4 * nodes,
            unreachable_after: 40 + 2 * nodes,
            close_after: 120 + 8 * nodes,
            attach_for: 24,
            attach_every: 8,
            large_reversal: 10.0,
            checkpoint_every: 0,
            exact: false,
            rounds: u64::MAX,
            held: false,
        }
    }
}
