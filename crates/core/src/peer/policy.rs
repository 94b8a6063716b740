//! How long a peer waits for what.

/// The patience of a peer. Times are in ticks, which the driver of a peer makes at a steady pace; a free-running peer makes one round a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Whether rounds wait for messages.
    pub pace: Pace,
    /// A member without any sign of life for so long counts as dead. More than news takes to go round.
    pub evict_after: u64,
    /// An edge without acknowledgements for so long is given no more mass.
    pub unreachable_after: u64,
    /// And after so long is closed.
    pub close_after: u64,
    /// The table travels with all messages for so many rounds after it has changed.
    pub attach_for: u64,
    /// And with every so many-th message to a peer.
    pub attach_every: u64,
    /// An undone edge that changes more than this many times what is usual asks for a new epoch.
    pub large_reversal: f64,
    /// Every so many rounds a checkpoint is handed out; none if 0.
    pub checkpoint_every: u64,
    /// Whether messages wait until what they depend on is on disk, so that a node can go on in the same life after a crash.
    pub exact: bool,
    /// After so many rounds a peer only answers.
    pub rounds: u64,
    /// Whether the first round waits for [`Command::Begin`](super::Command::Begin), or for a message
    /// of somebody who has begun. Until then a peer exchanges nothing but signs of life.
    pub held: bool,
}

/// Whether rounds wait for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A round waits for its neighbours' messages, so many ticks at most; the first waits for everybody, ten times as long.
    Lockstep {
        /// Ticks until a round goes on without those that are missing.
        deadline: u64,
    },
    /// A round takes what has arrived.
    Free,
}

impl Policy {
    /// For a run among this many nodes.
    pub fn new(pace: Pace, nodes: usize) -> Self {
        let nodes = nodes as u64;
        Self {
            pace,
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
