//! What peers pass on about each other, and how much of it one message carries.

use super::table::MemberState;
use crate::Mask;

/// The largest number of member states in one message, and of closed edges.
///
/// It bounds a message at about 12 kB of gossip, whatever the number of nodes. Where there are
/// more, messages carry different parts of them.
pub(crate) const STATES_PER_MESSAGE: usize = 256;

/// The largest number of heartbeats in one message.
pub(crate) const HEARTBEATS_PER_MESSAGE: usize = 16;

/// The largest number of acknowledgements in one message.
pub(crate) const ACKS_PER_MESSAGE: usize = 8;

/// The largest number of receipts in one message.
pub(crate) const RECEIPTS_PER_MESSAGE: usize = 256;

/// A sender has closed an edge: the receiver must give up the mass of all earlier generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeClosure {
    /// The node that closed its edge.
    pub from: u32,
    /// The node at the other end of the edge.
    pub to: u32,
    /// The tag of the incarnation of `from` in which it closed the edge.
    pub life: u64,
    /// The number of times that `from` has closed this edge in that life.
    pub generation: u64,
}

/// A sign of life of a node, which others pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The node that is alive.
    pub node: u32,
    /// The low 32 bits of the tag of its incarnation.
    pub life: u32,
    /// The number of ticks in that life, which grows with every heartbeat.
    pub count: u64,
}

/// An acknowledgement: a message has arrived. Others pass it on, because the link back may be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The node that has received the message.
    pub by: u32,
    /// The node that has sent it.
    pub from: u32,
    /// The tag of the sender's incarnation.
    pub life: u64,
    /// The sequence number of the message.
    pub sequence: u64,
}

/// A receipt: the scalars and the mass of a message are applied, or cannot be. Others pass it on.
///
/// An acknowledgement says that a message has arrived; it may still be replaced by a newer one, or
/// be lost in a crash. What a receiver holds follows from receipts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The node that has applied the message.
    pub by: u32,
    /// The low 32 bits of the tag of its incarnation.
    pub by_life: u32,
    /// The node that has sent it.
    pub from: u32,
    /// The low 32 bits of the tag of the sender's incarnation.
    pub life: u32,
    /// What the message carried. Later receipts with the same say more than earlier ones.
    pub carried: Carried,
    /// The sequence number of the message.
    pub sequence: u64,
}

/// What a message carried, or that it could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carried {
    /// Segments of these kinds.
    Parts {
        /// The segments, one bit for each.
        mask: u32,
        /// Whether the scalars of pulled and largest ones were there.
        pulled: bool,
        /// Whether their mass was there.
        mass: bool,
    },
    /// Words that the receiver could not complete: it asks for full ones.
    Refused,
}

impl Carried {
    /// The first in the order of all that a message can carry.
    pub(crate) const FIRST: Self = Self::Parts { mask: 0, pulled: false, mass: false };
    /// The last in this order.
    pub(crate) const LAST: Self = Self::Refused;

    /// What flags say of segments.
    pub(crate) fn of(mask: Mask, flags: u32) -> Self {
        if flags & 4 != 0 {
            return Self::Refused;
        }
        Self::Parts { mask: mask.bits(), pulled: flags & 1 != 0, mass: flags & 2 != 0 }
    }

    /// The mask and the flags, as a message has them.
    pub(crate) fn words(self) -> (u32, u32) {
        match self {
            Self::Parts { mask, pulled, mass } => (mask, u32::from(pulled) | u32::from(mass) << 1),
            Self::Refused => (0, 4),
        }
    }
}

/// All gossip of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GossipPayload {
    /// What the sender knows of members.
    pub(crate) states: Vec<(u32, MemberState)>,
    /// Edges that were closed.
    pub(crate) closures: Vec<EdgeClosure>,
    /// Heartbeats of other members.
    pub(crate) heartbeats: Vec<Heartbeat>,
    /// Acknowledgements, the receiver's own first.
    pub(crate) acks: Vec<Ack>,
    /// Receipts, the receiver's own first.
    pub(crate) receipts: Vec<Receipt>,
    /// The seals of the states, then those of the closed edges, one after the other.
    pub(crate) seals: Vec<u8>,
}
