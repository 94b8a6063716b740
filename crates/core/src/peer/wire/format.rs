//! The format of the messages of one run.
//!
//! All numbers are little-endian, and every part starts at a multiple of eight bytes:
//!
//! | bytes | part |
//! |---|---|
//! | 128 | [`Header`]: sender, receiver, time, and the number of entries that follow |
//! | 24 each | states of members |
//! | 24 each | closed edges |
//! | 16 each | heartbeats |
//! | 24 each | acknowledgements |
//! | 4 or 8 each, padded | scalars of pulled and largest segments, if any |
//! | 8 each | mass: all that was ever sent over this edge, if any |
//! | 8 | a checksum (XXH3) of all of the above |
//!
//! The [`WireFormat`] bounds the counts, and the length follows from them: a message of any other
//! length is refused before anything of it is read, and no memory is allocated for it.

use std::ops::Range;

use twox_hash::XxHash3_64;

use super::message::{Contents, Draft, HEADER, Header, Intent, Malformed, Message, MessageParts};
use super::words::{halves, join, put};
use crate::RowLayout;
use crate::num::extend;
use crate::peer::membership::{
    ACKS_PER_MESSAGE, GossipPayload, HEARTBEATS_PER_MESSAGE, Incarnation, MemberState, STATES_PER_MESSAGE,
};
use crate::{Mask, Scalar, SegmentKind, Segments};

/// What all peers of a run know before the first message: it decides how long a message can be.
#[derive(Clone, Debug)]
pub struct WireFormat {
    run: u64,
    nodes: u32,
    layout: RowLayout,
}

const MAGIC: u32 = u32::from_le_bytes(*b"FABN");
const VERSION: u16 = 2;

/// The first six bytes of every message: the magic number and the version.
pub const BEGINNING: [u8; 6] = {
    let ([m, a, g, i], [low, high]) = (MAGIC.to_le_bytes(), VERSION.to_le_bytes());
    [m, a, g, i, low, high]
};

/// No run counts this far. Larger counts are refused, so that no sum of counts overflows.
const LARGEST_COUNT: u64 = 1 << 62;

// The bytes of an entry of each kind.
const STATE: usize = 24;
const CLOSURE: usize = 24;
const HEARTBEAT: usize = 16;
const ACK: usize = 24;
const CHECKSUM: usize = 8;

/// The number of entries that follow a header.
struct Counts {
    states: usize,
    closures: usize,
    heartbeats: usize,
    acks: usize,
}

impl WireFormat {
    /// The format of the run with this number, among this many nodes that exchange these segments.
    pub fn new(run: u64, nodes: usize, segments: &Segments) -> Self {
        Self { run, nodes: nodes as u32, layout: RowLayout::new(segments) }
    }

    /// The largest number of nodes that can take part.
    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    /// The largest number of member states in a message, and of closed edges.
    pub(crate) fn states_per_message(&self) -> usize {
        self.nodes().min(STATES_PER_MESSAGE)
    }

    /// The bytes of the longest message there can be, with scalars of this many bytes.
    pub fn longest(&self, scalar: usize) -> usize {
        HEADER
            + self.states_per_message() * (STATE + CLOSURE)
            + HEARTBEATS_PER_MESSAGE * HEARTBEAT
            + ACKS_PER_MESSAGE * ACK
            + (self.layout.shared * scalar).next_multiple_of(8)
            + self.layout.pushed * 8
            + CHECKSUM
    }

    /// Where the segments of a row are.
    pub(crate) fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The places in a row of the pulled and largest segments of a mask.
    pub(crate) fn pulled(&self, mask: Mask) -> impl Iterator<Item = Range<usize>> {
        let exchanged =
            self.layout.spans.iter().filter(move |part| mask.has(part.index) && part.kind != SegmentKind::Push);
        exchanged.map(|part| part.row.clone())
    }

    /// The places in the ledger of the pushed segments of a mask.
    pub(crate) fn pushed(&self, mask: Mask) -> impl Iterator<Item = Range<usize>> {
        self.layout.pushed().filter(move |part| mask.has(part.index)).map(|part| part.input.clone())
    }

    /// Writes a message.
    pub(crate) fn write<T: Scalar>(&self, message: &Draft<'_, T>) -> Vec<u8> {
        let Header { contents, mask, .. } = message.header;
        let GossipPayload { states, closures, heartbeats, acks } = message.gossip;
        let gossip = states.len() * STATE + closures.len() * CLOSURE + heartbeats.len() * HEARTBEAT + acks.len() * ACK;
        let scalars = message.row.len() * 8 + message.mass.len() * 8;
        let mut bytes = Vec::with_capacity(HEADER + gossip + scalars + CHECKSUM);
        self.write_header(message, &mut bytes);
        write_gossip(message.gossip, &mut bytes);
        if contents.pulled {
            self.pulled(mask).for_each(|range| T::write_all(&message.row[range], &mut bytes));
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        if contents.mass {
            self.pushed(mask).for_each(|range| extend(&mut bytes, &message.mass[range], i64::to_le_bytes));
        }
        let checksum = XxHash3_64::oneshot(&bytes);
        put(&mut bytes, [checksum]);
        bytes
    }

    fn write_header<T>(&self, message: &Draft<'_, T>, bytes: &mut Vec<u8>) {
        let (header, gossip) = (message.header, message.gossip);
        let Contents { pulled, mass, intent } = header.contents;
        let flags = u16::from(pulled) | u16::from(mass) << 1 | (intent as u16) << 2;
        let counts = gossip.heartbeats.len() as u32 | (gossip.acks.len() as u32) << 16;
        let (own, other) = (header.incarnation, header.to_incarnation);
        let first = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(flags) << 48;
        put(bytes, [first, self.run, join(header.from, header.to)]);
        put(bytes, [own.counter, own.nonce, other.counter, other.nonce]);
        put(bytes, [header.epoch, header.round, header.sequence, header.generation]);
        put(bytes, [header.held, header.beat, header.digest, join(header.mask.bits(), counts)]);
        put(bytes, [join(gossip.states.len() as u32, gossip.closures.len() as u32)]);
    }

    /// Reads a message, or says why the bytes are not one of this run.
    pub fn read<'a, T: Scalar>(&self, bytes: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let words = bytes.as_chunks::<8>().0.first_chunk::<{ HEADER / 8 }>().ok_or(Malformed::Length)?;
        let (header, counts) = self.read_header(words.map(u64::from_le_bytes))?;
        let lengths = self.lengths(&header, &counts, T::BYTES).ok_or(Malformed::Length)?;
        if bytes.len() != HEADER + lengths.iter().sum::<usize>() + CHECKSUM {
            return Err(Malformed::Length);
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum != XxHash3_64::oneshot(body).to_le_bytes() {
            return Err(Malformed::Checksum);
        }
        let mut rest = &body[HEADER..];
        let mut part = |length: usize| rest.split_off(..length).unwrap_or_default();
        let [states, closures, heartbeats, acks, pulled, mass] = lengths.map(&mut part);
        let pulled = &pulled[..if header.contents.pulled { self.scalars(header.mask) * T::BYTES } else { 0 }];
        let message = Message { header, parts: MessageParts { states, closures, heartbeats, acks, pulled, mass } };
        if self.is_plausible::<T>(&message) { Ok(message) } else { Err(Malformed::Value) }
    }

    /// Reads a header and the number of entries that follow it.
    fn read_header(&self, words: [u64; HEADER / 8]) -> Result<(Header, Counts), Malformed> {
        let [first, run, nodes, c, n, tc, tn, epoch, round, sequence, generation, held, beat, digest, mask, entries] =
            words;
        let (magic, rest) = halves(first);
        if magic != MAGIC || rest & 0xFFFF != u32::from(VERSION) {
            return Err(Malformed::Foreign);
        }
        if run != self.run {
            return Err(Malformed::Run);
        }
        let ((from, to), (mask, few)) = (halves(nodes), halves(mask));
        let header = Header {
            from,
            to,
            incarnation: Incarnation { counter: c, nonce: n },
            to_incarnation: Incarnation { counter: tc, nonce: tn },
            epoch,
            round,
            sequence,
            generation,
            held,
            beat,
            digest,
            mask: Mask::from_bits(mask),
            contents: contents(rest >> 16),
        };
        let (states, closures) = halves(entries);
        let (heartbeats, acks) = (few as usize & 0xFFFF, few as usize >> 16);
        Ok((header, Counts { states: states as usize, closures: closures as usize, heartbeats, acks }))
    }

    /// The bytes of each part of a message, or `None` if there are more entries than there can be.
    fn lengths(&self, header: &Header, counts: &Counts, scalar: usize) -> Option<[usize; 6]> {
        let Counts { states, closures, heartbeats, acks } = *counts;
        let most = self.states_per_message();
        if states > most || closures > most || heartbeats > HEARTBEATS_PER_MESSAGE || acks > ACKS_PER_MESSAGE {
            return None;
        }
        let Header { contents, mask, .. } = *header;
        let scalars = self.scalars(mask);
        let masses: usize = self.pushed(mask).map(|range| range.len()).sum();
        Some([
            states * STATE,
            closures * CLOSURE,
            heartbeats * HEARTBEAT,
            acks * ACK,
            if contents.pulled { (scalars * scalar).next_multiple_of(8) } else { 0 },
            if contents.mass { masses * 8 } else { 0 },
        ])
    }

    /// The number of pulled and largest scalars of a mask.
    fn scalars(&self, mask: Mask) -> usize {
        self.pulled(mask).map(|range| range.len()).sum()
    }

    /// Whether nodes exist, counts are possible and scalars are finite.
    fn is_plausible<T: Scalar>(&self, message: &Message<'_>) -> bool {
        let header = &message.header;
        // All of them: a loop that may end anywhere is slower.
        let finite = message.scalars::<T>().fold(true, |all, scalar| all & scalar.is_finite());
        let counts = [header.epoch, header.round, header.sequence, header.generation, header.incarnation.counter];
        let lives = message.member_states().map(|(_, state)| state.incarnation.counter);
        let countable = counts.into_iter().chain(lives).all(|count| count <= LARGEST_COUNT);
        header.from < self.nodes && header.to < self.nodes && finite && countable
    }
}

/// What stands in the flags of a header.
fn contents(flags: u32) -> Contents {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let intent = match (flag(2), flag(3)) {
        (false, false) => Intent::News,
        (true, _) => Intent::Answer,
        (false, true) => Intent::RequestShare,
    };
    Contents { pulled: flag(0), mass: flag(1), intent }
}

fn write_gossip(gossip: &GossipPayload, bytes: &mut Vec<u8>) {
    for &(node, MemberState { incarnation, dead }) in &gossip.states {
        put(bytes, [join(node, u32::from(dead)), incarnation.counter, incarnation.nonce]);
    }
    for closure in &gossip.closures {
        put(bytes, [join(closure.from, closure.to), closure.life, closure.generation]);
    }
    for heartbeat in &gossip.heartbeats {
        put(bytes, [join(heartbeat.node, heartbeat.life), heartbeat.count]);
    }
    for ack in &gossip.acks {
        put(bytes, [join(ack.by, ack.from), ack.life, ack.sequence]);
    }
}
