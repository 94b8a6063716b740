//! A message between peers: its header, its parts, and how they are read from bytes.

use std::ops::Range;

use super::chunk::FULL;
use super::control::Control;
use super::words::{halves, scalars};
use crate::peer::membership::Incarnation;
use crate::{Mask, Scalar};

/// A message that is read where it stands in memory; nothing of it is copied.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The header of the message.
    pub header: Header,
    /// What the message says beside scalars and mass.
    pub control: Control<'a>,
    pub(super) bytes: &'a [u8],
    pub(crate) body: Body,
}

/// Where the scalars and the mass of a message stand in its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// The scalars of the largest segments.
    pub(crate) largest: Range<usize>,
    /// Each chunk of pulled segments, empty if it is not in the message; none without scalars.
    pub(crate) pulled: Vec<Range<usize>>,
    /// Each chunk of mass, empty if it is not in the message; none without mass.
    pub(crate) mass: Vec<Range<usize>>,
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
    /// The bytes are not of fabnet.
    #[error("not a message of fabnet")]
    Foreign,
    /// The message is of another version of the wire.
    #[error("a message of version {theirs} of the wire, where this node speaks {ours}: run one fabnet on all nodes")]
    Version {
        /// The version of the message.
        theirs: u16,
        /// The version of this fabnet.
        ours: u16,
    },
    /// The message has words of another length, or several pieces.
    #[error("a message whose scalars are laid out as this run does not")]
    Layout,
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

impl Message<'_> {
    /// The scalars that stand in the message as they are: those of largest segments, and of pulled
    /// chunks in full.
    pub fn full_scalars<T: Scalar>(&self) -> impl Iterator<Item = T> {
        let chunks = self.body.pulled.iter().filter_map(|place| match self.bytes[place.clone()].split_first() {
            Some((&FULL, scalars)) => Some(scalars),
            _ => None,
        });
        std::iter::once(&self.bytes[self.body.largest.clone()]).chain(chunks).flat_map(scalars)
    }
}
