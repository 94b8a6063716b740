//! The fields of messages and saved states that the simulator looks at.
//!
//! They are read here by their offsets and not by core's own reader: a mistake there could
//! otherwise hide from the checks. The layout is that of the `message` and `snapshot` formats.

use std::collections::BTreeMap;

use fabnet_core::peer::Incarnation;
use fabnet_core::{SegmentKind, Segments};
use twox_hash::XxHash3_64;

/// Bytes of a word: every field stands at a multiple of it.
const WORD: usize = 8;

/// The word of each field in the header of a message.
pub(super) mod header {
    pub(in crate::attack) const FLAGS: usize = 0;
    pub(super) const RUN: usize = 1;
    /// The sender in the low half, the receiver in the high one.
    pub(in crate::attack) const NODES: usize = 2;
    pub(in crate::attack) const SENDER: usize = 3;
    pub(in crate::attack) const RECEIVER: usize = 5;
    pub(in crate::attack) const EPOCH: usize = 7;
    pub(in crate::attack) const ROUND: usize = 8;
    pub(in crate::attack) const SEQUENCE: usize = 9;
    pub(in crate::attack) const GENERATION: usize = 10;
    /// What the sender holds of the receiver; its heartbeat and its digest follow.
    pub(in crate::attack) const HELD: usize = 11;
    /// The bytes of the control section in the high half.
    pub(in crate::attack) const CONTROL: usize = 14;
    /// All of it.
    pub(in crate::attack) const WORDS: usize = 16;
}

/// The bits of the first word that say whether a message carries scalars, and mass.
const CARRIES_SCALARS: u32 = 48;
const CARRIES_MASS: u32 = 49;

/// The largest number of scalars of a chunk.
const CHUNK: usize = 1024;

/// What a chunk in full has in the place of a shift.
pub(super) const FULL: u8 = u8::MAX;

/// The word of a saved state with the sequence number of the newest message.
const STATE_SEQUENCE: usize = 4;

/// A message as bytes, of which single fields are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireMessage<'a>(pub(super) &'a [u8]);

/// One direction between two nodes, as long as both keep their incarnation and epoch and the sender
/// does not close it. Mass of one edge must never be taken for that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: (u32, Incarnation),
    pub(super) to: (u32, Incarnation),
    pub(super) epoch: u64,
    pub(super) generation: u64,
}

impl WireMessage<'_> {
    /// Whether the message carries mass.
    pub(super) fn carries_mass(self) -> bool {
        word(self.0, header::FLAGS) >> CARRIES_MASS & 1 == 1
    }

    /// Whether the message carries scalars.
    pub(super) fn carries_scalars(self) -> bool {
        word(self.0, header::FLAGS) >> CARRIES_SCALARS & 1 == 1
    }

    /// All words of the header.
    pub(super) fn header(self) -> Vec<u64> {
        (0..header::WORDS).map(|place| word(self.0, place)).collect()
    }

    /// The seals of the lives that the message names, by node; none if it has no seals.
    pub(super) fn seals_of_lives(self, length: usize) -> BTreeMap<u32, Vec<u8>> {
        let end = header::WORDS * WORD + (word(self.0, header::CONTROL) >> 32) as usize;
        let (mut rest, mut parts) = (&self.0[header::WORDS * WORD..end], BTreeMap::new());
        while !rest.is_empty() {
            let (kind, bytes) = (word(rest, 0) as u32, (word(rest, 0) >> 32) as usize);
            parts.insert(kind, &rest[WORD..WORD + bytes]);
            rest = &rest[WORD + bytes..];
        }
        let states = parts.get(&1).copied().unwrap_or_default().chunks(3 * WORD);
        let seals = parts.get(&6).copied().unwrap_or_default().chunks(length);
        states.zip(seals).map(|(state, seal)| (word(state, 0) as u32, seal.to_vec())).collect()
    }

    /// The sequence number of the message.
    pub(super) fn sequence(self) -> u64 {
        word(self.0, header::SEQUENCE)
    }

    /// The edge over which the message is sent.
    pub(super) fn edge(self) -> Edge {
        let word = |place: usize| word(self.0, place);
        let incarnation = |place: usize| Incarnation { counter: word(place), nonce: word(place + 1) };
        let nodes = word(header::NODES);
        Edge {
            from: (nodes as u32, incarnation(header::SENDER)),
            to: ((nodes >> 32) as u32, incarnation(header::RECEIVER)),
            epoch: word(header::EPOCH),
            generation: word(header::GENERATION),
        }
    }

    /// The mass that the message carries, for somebody who knows what the message before it over
    /// the same edge carried, so that no word can be mistaken.
    pub(super) fn mass(self, lengths: &ChunkLengths, known: &[i64]) -> Vec<i64> {
        let mut rest = &self.0[header::WORDS * WORD + (word(self.0, header::CONTROL) >> 32) as usize..];
        if self.carries_scalars() {
            rest = &rest[lengths.largest * WORD..];
            for &scalars in &lengths.pulled {
                let (start, bytes) = chunk_layout(rest[0]);
                rest = &rest[start + scalars * bytes..];
            }
        }
        let mut mass = Vec::new();
        for &scalars in &lengths.pushed {
            let (start, bytes) = chunk_layout(rest[0]);
            for place in 0..scalars {
                let mut low = [0; WORD];
                low[..bytes].copy_from_slice(&rest[start + place * bytes..][..bytes]);
                let known = known.get(mass.len()).copied().unwrap_or(0);
                let full = i64::from_le_bytes(low);
                mass.push(if bytes == WORD { full } else { nearest(low, bytes, u32::from(rest[0] & 63), known) });
            }
            rest = &rest[start + scalars * bytes..];
        }
        mass
    }

    /// The message that another run would have sent: newer, with other mass, and intact.
    pub(super) fn of_another_run(self) -> Vec<u8> {
        let mut other = self.0[..self.0.len() - WORD].to_vec();
        let last_word = other.len() - WORD;
        other[header::RUN * WORD] ^= 1;
        // The second byte of the sequence number: 256 messages later, or earlier.
        other[header::SEQUENCE * WORD + 1] ^= 1;
        other[last_word] ^= 0x55;
        let checksum = XxHash3_64::oneshot(&other);
        other.extend(checksum.to_le_bytes());
        other
    }
}

/// Where the words of a chunk begin that has this first byte, and how long each is.
fn chunk_layout(first: u8) -> (usize, usize) {
    if first == FULL { (1, WORD) } else { (1 + WORD, 1 << (first >> 6)) }
}

/// The number nearest to a known one that is a multiple of 2ˢ and whose quotient ends in these
/// bytes. It is searched for among neighbours, not computed as core does.
fn nearest(low: [u8; WORD], bytes: usize, shift: u32, known: i64) -> i64 {
    let period = 1i128 << (8 * bytes as u32 + shift);
    let number = i128::from(u64::from_le_bytes(low)) << shift;
    let first = number + (i128::from(known) - number).div_euclid(period) * period;
    let candidates = [first, first + period];
    let nearest = candidates.into_iter().min_by_key(|candidate| (candidate - i128::from(known)).abs());
    nearest.unwrap_or(first) as i64
}

/// The chunks of a message with all segments.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkLengths {
    /// Scalars of the largest segments, which have no chunks.
    pub(super) largest: usize,
    pub(super) pulled: Vec<usize>,
    pub(super) pushed: Vec<usize>,
}

impl ChunkLengths {
    /// The chunks of rows with these segments.
    pub(super) fn new(segments: &Segments) -> Self {
        let mut lengths = Self::default();
        for (segment, place) in segments.iter() {
            let chunks = place.clone().step_by(CHUNK).map(|start| CHUNK.min(place.end - start));
            match segment.kind {
                SegmentKind::Pull => lengths.pulled.extend(chunks),
                SegmentKind::Push => lengths.pushed.extend(chunks),
                SegmentKind::Max => lengths.largest += place.len(),
                SegmentKind::Private => {}
            }
        }
        lengths
    }
}

/// The sequence number of the newest message that a saved state knows of.
pub(super) fn sequence_of_state(state: &[u8]) -> u64 {
    word(state, STATE_SEQUENCE)
}

fn word(bytes: &[u8], place: usize) -> u64 {
    bytes.as_chunks().0.get(place).map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests;
