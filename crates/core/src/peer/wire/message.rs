//! A message between peers: its header, its parts, and how they are read from bytes.

use std::ops::Range;

use super::words::{halves, mass, scalars, words};
use crate::peer::membership::{Ack, EdgeClosure, GossipPayload, Heartbeat, Incarnation, MemberState};
use crate::{Mask, Scalar};

/// The bytes of a header.
pub(super) const HEADER: usize = 128;

/// A message that is read where it stands in memory; nothing of it is copied.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The header of the message.
    pub header: Header,
    pub(super) parts: MessageParts<'a>,
}

/// The bytes of a message after its header, part by part.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageParts<'a> {
    pub(super) states: &'a [u8],
    pub(super) closures: &'a [u8],
    pub(super) heartbeats: &'a [u8],
    pub(super) acks: &'a [u8],
    pub(super) pulled: &'a [u8],
    pub(super) mass: &'a [u8],
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The node that sends the message.
    pub from: u32,
    /// The node that is to receive it.
    pub to: u32,
    /// The sender's incarnation.
    pub incarnation: Incarnation,
    /// The receiver's incarnation, as the sender knows it.
    pub to_incarnation: Incarnation,
    /// The sender's epoch.
    pub epoch: u64,
    /// The sender's round.
    pub round: u64,
    /// The number of the message. A sender counts the messages to all receivers together.
    pub sequence: u64,
    /// The number of times that the sender has closed this edge in its present life.
    pub generation: u64,
    /// Whether the sender holds mass that the receiver has sent: 0 if not, else one more than the
    /// generation of that mass. A receiver whose disk has forgotten this edge learns of it here.
    pub held: u64,
    /// The count of the sender's heartbeats.
    pub beat: u64,
    /// The hash of what the sender knows of members and closed edges.
    pub digest: u64,
    /// The segments that the message carries.
    pub mask: Mask,
    /// The parts of the message beside gossip, and its intent.
    pub contents: Contents,
}

/// The parts of a message beside gossip, and its intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Whether it carries the scalars of pulled and largest segments.
    pub pulled: bool,
    /// Whether it carries mass.
    pub mass: bool,
    /// What the sender expects of the receiver.
    pub intent: Intent,
}

/// What the sender of a message expects of its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intent {
    /// The receiver takes in what the message says.
    #[default]
    News,
    /// The message answers one that came too late, or a call. It is not answered itself, or two
    /// peers that disagree would answer each other for ever.
    Answer,
    /// The sender receives no mass from its sources and asks for a neighbour's share.
    RequestShare,
}

/// The reason why bytes are not a message of this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not of fabnet, or of another version.
    #[error("not a message that this version of fabnet understands")]
    Foreign,
    /// The message belongs to another run.
    #[error("a message of another run")]
    Run,
    /// The length is not the one that the counts imply, or these are larger than they can be.
    #[error("a message of the wrong length")]
    Length,
    /// The message was damaged on its way.
    #[error("a damaged message")]
    Checksum,
    /// The message names nodes, counts or scalars that cannot exist.
    #[error("a message with nodes that do not exist, counts that no run comes to, or scalars that are not finite")]
    Value,
}

/// The addresses on a message, read before anything of it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The number of the run.
    pub run: u64,
    /// The node that sends the message.
    pub from: u32,
    /// The node that is to receive it.
    pub to: u32,
}

impl Envelope {
    /// Reads the addresses, or returns `None` if the bytes are too few for a header.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |place: usize| Some(u64::from_le_bytes(bytes.get(place..place + 8)?.try_into().ok()?));
        let (from, to) = halves(word(16)?);
        Some(Self { run: word(8)?, from, to })
    }
}

impl<'a> Message<'a> {
    /// What the sender knows of members.
    pub fn member_states(&self) -> impl Iterator<Item = (u32, MemberState)> + 'a {
        words(self.parts.states).map(|[node, counter, nonce]| {
            (node as u32, MemberState { incarnation: Incarnation { counter, nonce }, dead: node >> 32 != 0 })
        })
    }

    /// Edges that were closed.
    pub fn closures(&self) -> impl Iterator<Item = EdgeClosure> + 'a {
        words(self.parts.closures).map(|[edge, life, generation]| {
            let (from, to) = halves(edge);
            EdgeClosure { from, to, life, generation }
        })
    }

    /// Heartbeats of other members.
    pub fn heartbeats(&self) -> impl Iterator<Item = Heartbeat> + 'a {
        words(self.parts.heartbeats).map(|[who, count]| {
            let (node, life) = halves(who);
            Heartbeat { node, life, count }
        })
    }

    /// Acknowledgements of messages, the receiver's own among them.
    pub fn acks(&self) -> impl Iterator<Item = Ack> + 'a {
        words(self.parts.acks).map(|[edge, life, sequence]| {
            let (by, from) = halves(edge);
            Ack { by, from, life, sequence }
        })
    }

    /// The scalars of pulled and largest segments, one segment after the other.
    pub fn scalars<T: Scalar>(&self) -> impl Iterator<Item = T> + 'a {
        scalars(self.parts.pulled)
    }

    /// The mass: all that was ever sent over this edge, in units.
    pub fn mass(&self) -> impl Iterator<Item = i64> + 'a {
        mass(self.parts.mass)
    }

    /// The places of the scalars and of the mass in the bytes that were read.
    pub(crate) fn places(&self) -> (Range<usize>, Range<usize>) {
        let MessageParts { states, closures, heartbeats, acks, pulled, mass } = self.parts;
        let start = HEADER + states.len() + closures.len() + heartbeats.len() + acks.len();
        let pulled = start..start + pulled.len();
        let masses = pulled.end.next_multiple_of(8);
        (pulled, masses..masses + mass.len())
    }
}

/// A message that is to be written.
pub(crate) struct Draft<'a, T> {
    pub(crate) header: Header,
    pub(crate) gossip: &'a GossipPayload,
    /// The sender's row, of which the pulled and largest segments of the mask are written.
    pub(crate) row: &'a [T],
    /// All that was ever sent over this edge, of which the pushed segments of the mask are written.
    pub(crate) mass: &'a [i64],
}
