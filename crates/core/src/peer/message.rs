//! What peers say to each other, as bytes.
//!
//! Little-endian, every part at a multiple of eight bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 128 | [`Header`]: who, to whom, when, and how many entries follow |
//! | 24 each | standings of members |
//! | 24 each | edges that were closed |
//! | 16 each | heartbeats |
//! | 24 each | acknowledgements |
//! | 4 or 8 each, padded | pulled and largest scalars, if any |
//! | 8 each | mass: all that was ever sent over this edge, if any |
//! | 8 | a checksum (XXH3) of all of the above |
//!
//! The counts are bounded by the [`Manifest`], and the length follows from them: a message of any other length is refused before anything of it is read, and nothing is ever allocated for it.

use std::ops::Range;

use twox_hash::XxHash3_64;

use super::membership::{Incarnation, Standing};
use crate::layout::RowLayout;
use crate::scalar::extend;
use crate::{Kind, Mask, Scalar, Segments};

/// What all peers of a run know before the first message: it decides how long a message can be.
#[derive(Clone, Debug)]
pub struct Manifest {
    run: u64,
    nodes: u32,
    layout: RowLayout,
}

/// Members that a message tells of at most.
pub(super) const NEWS: usize = 256;
/// Heartbeats that it carries at most.
pub(super) const BEATS: usize = 16;
/// And acknowledgements.
pub(super) const ACKS: usize = 8;

/// No run counts this far, so no sum of counts overflows.
const FARTHEST: u64 = 1 << 62;

const MAGIC: u32 = u32::from_le_bytes(*b"FABN");
const VERSION: u16 = 2;
/// How every message begins.
pub const BEGINNING: [u8; 6] = {
    let ([m, a, g, i], [low, high]) = (MAGIC.to_le_bytes(), VERSION.to_le_bytes());
    [m, a, g, i, low, high]
};
const HEADER: usize = 128;
const STANDING: usize = 24;
const CLOSE: usize = 24;
const BEAT: usize = 16;
const ACK: usize = 24;
const CHECKSUM: usize = 8;

/// What is in a message, beside control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Pulled and largest scalars.
    pub pulled: bool,
    /// Mass.
    pub mass: bool,
    /// What it wants.
    pub manner: Manner,
}

/// What a message wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// To be heard.
    #[default]
    News,
    /// To answer a message that came too late, or a call: it is not answered itself.
    Answer,
    /// What a neighbour gets: its sender hears nobody.
    Plea,
}

/// The beginning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender.
    pub from: u32,
    /// For whom it is.
    pub to: u32,
    /// The sender's life.
    pub incarnation: Incarnation,
    /// The receiver's, as the sender knows it.
    pub to_incarnation: Incarnation,
    /// The sender's epoch.
    pub epoch: u64,
    /// The sender's round.
    pub round: u64,
    /// The number of the message, one counter for all receivers.
    pub sequence: u64,
    /// How often the sender has closed this edge.
    pub generation: u64,
    /// Whether the sender holds mass of the receiver's: 0 if not, else one more than the generation that it is of.
    pub held: u64,
    /// How many heartbeats it has made.
    pub beat: u64,
    /// What it knows of members and closed edges, as one number.
    pub digest: u64,
    /// Which segments it carries.
    pub mask: Mask,
    /// And which parts.
    pub contents: Contents,
}

/// A sender has closed an edge: what was received over it in an earlier generation is to be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// Who closed it.
    pub from: u32,
    /// Towards whom.
    pub to: u32,
    /// In which life.
    pub life: u64,
    /// How often.
    pub generation: u64,
}

/// A sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Whose.
    pub node: u32,
    /// Of which life, in short.
    pub life: u32,
    /// How many there have been.
    pub count: u64,
}

/// A message has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Where.
    pub by: u32,
    /// From whom.
    pub from: u32,
    /// Of which life of the sender.
    pub life: u64,
    /// Its number.
    pub sequence: u64,
}

impl Incarnation {
    /// This life, in short.
    pub fn tag(self) -> u64 {
        self.counter.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.nonce
    }
}

/// Why a message is not one of this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is not of fabnet, or of another version.
    #[error("not a message that this version of fabnet understands")]
    Foreign,
    /// It belongs to another run.
    #[error("a message of another run")]
    Run,
    /// Its length is not what its counts say, or these are larger than they can be.
    #[error("a message of the wrong length")]
    Length,
    /// It was damaged on its way.
    #[error("a damaged message")]
    Checksum,
    /// Nodes, counts or scalars that cannot be.
    #[error("a message with nodes that do not exist, counts that no run comes to, or scalars that are not finite")]
    Value,
}

/// A message that can be read where it is.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its beginning.
    pub header: Header,
    standings: &'a [u8],
    closes: &'a [u8],
    beats: &'a [u8],
    acks: &'a [u8],
    pulled: &'a [u8],
    mass: &'a [u8],
}

fn halves(bytes: [u8; 8]) -> (u32, u32) {
    let word = u64::from_le_bytes(bytes);
    (word as u32, (word >> 32) as u32)
}

/// What a message says it is, before anything of it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Of which run.
    pub run: u64,
    /// From whom.
    pub from: u32,
    /// For whom.
    pub to: u32,
}

impl Envelope {
    /// Reads it, if the message is long enough to have one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (from, to) = halves(bytes.get(16..24)?.try_into().ok()?);
        Some(Self { run: u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?), from, to })
    }
}

impl Manifest {
    /// A run of this number, among so many nodes, that exchanges these segments.
    pub fn new(run: u64, nodes: usize, segments: &Segments) -> Self {
        Self { run, nodes: nodes as u32, layout: RowLayout::new(segments) }
    }

    /// How many nodes there can be.
    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    /// Standings that a message carries at most, and as many closed edges: where there are more, they take turns.
    pub(super) fn news(&self) -> usize {
        self.nodes().min(NEWS)
    }

    /// The longest message there can be, with scalars of so many bytes.
    pub fn longest(&self, scalar: usize) -> usize {
        HEADER
            + self.news() * (STANDING + CLOSE)
            + BEATS * BEAT
            + ACKS * ACK
            + (self.layout.shared * scalar).next_multiple_of(8)
            + self.layout.pushed * 8
            + CHECKSUM
    }

    pub(super) fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The places in a row of what is pulled in a round, segment by segment.
    pub(super) fn pulled(&self, mask: Mask) -> impl Iterator<Item = (Kind, Range<usize>)> {
        let exchanged = self.layout.parts.iter().filter(move |part| mask.has(part.index) && part.kind != Kind::Push);
        exchanged.map(|part| (part.kind, part.row.clone()))
    }

    /// The places in the ledger of what is pushed in a round, segment by segment.
    pub(super) fn pushed(&self, mask: Mask) -> impl Iterator<Item = Range<usize>> {
        self.layout.pushed().filter(move |part| mask.has(part.index)).map(|part| part.input.clone())
    }

    /// Appends a message.
    pub(super) fn write<T: Scalar>(&self, message: &Draft<'_, T>, bytes: &mut Vec<u8>) {
        let Header { contents, mask, .. } = message.header;
        bytes.clear();
        bytes.reserve(
            HEADER
                + message.standings.len() * STANDING
                + message.closes.len() * CLOSE
                + BEATS * BEAT
                + ACKS * ACK
                + message.row.len() * 8
                + message.mass.len() * 8
                + CHECKSUM,
        );
        self.write_header(message, bytes);
        for (node, Standing { incarnation, dead }) in message.standings {
            put(bytes, [u64::from(*node) | u64::from(*dead) << 32, incarnation.counter, incarnation.nonce]);
        }
        for close in message.closes {
            put(bytes, [u64::from(close.from) | u64::from(close.to) << 32, close.life, close.generation]);
        }
        for beat in message.beats {
            put(bytes, [u64::from(beat.node) | u64::from(beat.life) << 32, beat.count]);
        }
        for ack in message.acks {
            put(bytes, [u64::from(ack.by) | u64::from(ack.from) << 32, ack.life, ack.sequence]);
        }
        if contents.pulled {
            for (_, range) in self.pulled(mask) {
                T::write_all(&message.row[range], bytes);
            }
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        if contents.mass {
            self.pushed(mask).for_each(|range| extend(bytes, &message.mass[range], i64::to_le_bytes));
        }
        put(bytes, [XxHash3_64::oneshot(bytes)]);
    }

    fn write_header<T>(&self, message: &Draft<'_, T>, bytes: &mut Vec<u8>) {
        let header = message.header;
        let Contents { pulled, mass, manner } = header.contents;
        let flags = u16::from(pulled) | u16::from(mass) << 1 | (manner as u16) << 2;
        let counts = message.beats.len() as u64 | (message.acks.len() as u64) << 16;
        let (own, other) = (header.incarnation, header.to_incarnation);
        let first = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(flags) << 48;
        put(bytes, [first, self.run, u64::from(header.from) | u64::from(header.to) << 32]);
        put(bytes, [own.counter, own.nonce, other.counter, other.nonce]);
        put(bytes, [header.epoch, header.round, header.sequence, header.generation]);
        put(bytes, [header.held, header.beat, header.digest]);
        put(bytes, [u64::from(header.mask.bits()) | counts << 32]);
        put(bytes, [message.standings.len() as u64 | (message.closes.len() as u64) << 32]);
    }

    /// Reads a message, or says why it is none of this run.
    pub fn read<'a, T: Scalar>(&self, bytes: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let (words, _) = bytes.as_chunks::<8>();
        let Some(
            &[first, run, nodes, c, n, tc, tn, epoch, round, sequence, generation, held, beat, digest, mask, counts],
        ) = words.first_chunk()
        else {
            return Err(Malformed::Length);
        };
        let word = u64::from_le_bytes;
        let (magic, rest) = halves(first);
        if magic != MAGIC || rest & 0xFFFF != u32::from(VERSION) {
            return Err(Malformed::Foreign);
        }
        if word(run) != self.run {
            return Err(Malformed::Run);
        }
        let flag = |bit: u32| rest >> (16 + bit) & 1 == 1;
        let manner = match (flag(2), flag(3)) {
            (false, false) => Manner::News,
            (true, _) => Manner::Answer,
            (false, true) => Manner::Plea,
        };
        let contents = Contents { pulled: flag(0), mass: flag(1), manner };
        let ((from, to), (mask, gossip)) = (halves(nodes), halves(mask));
        let (mask, (standings, closes)) = (Mask::from_bits(mask), halves(counts));
        let (beats, acks) = (gossip & 0xFFFF, gossip >> 16);
        if standings as usize > self.news()
            || closes as usize > self.news()
            || beats as usize > BEATS
            || acks as usize > ACKS
        {
            return Err(Malformed::Length);
        }
        let scalars: usize = self.pulled(mask).map(|(_, range)| range.len()).sum();
        let lengths = [
            standings as usize * STANDING,
            closes as usize * CLOSE,
            beats as usize * BEAT,
            acks as usize * ACK,
            if contents.pulled { (scalars * T::BYTES).next_multiple_of(8) } else { 0 },
            if contents.mass { self.pushed(mask).map(|range| range.len()).sum::<usize>() * 8 } else { 0 },
        ];
        if bytes.len() != HEADER + lengths.iter().sum::<usize>() + CHECKSUM {
            return Err(Malformed::Length);
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum != XxHash3_64::oneshot(body).to_le_bytes() {
            return Err(Malformed::Checksum);
        }
        let mut rest = &body[HEADER..];
        let mut part = |length: usize| rest.split_off(..length).unwrap_or_default();
        let [standings, closes, beats, acks, pulled, mass] = lengths.map(&mut part);
        let header = Header {
            from,
            to,
            incarnation: Incarnation { counter: word(c), nonce: word(n) },
            to_incarnation: Incarnation { counter: word(tc), nonce: word(tn) },
            epoch: word(epoch),
            round: word(round),
            sequence: word(sequence),
            generation: word(generation),
            held: word(held),
            beat: word(beat),
            digest: word(digest),
            mask,
            contents,
        };
        let pulled = &pulled[..if contents.pulled { scalars * T::BYTES } else { 0 }];
        let message = Message { header, standings, closes, beats, acks, pulled, mass };
        let finite = message.scalars::<T>().fold(true, |all, scalar| all & scalar.is_finite());
        let counts = [header.epoch, header.round, header.sequence, header.generation, header.incarnation.counter];
        let lives = message.standings().map(|(_, standing)| standing.incarnation.counter);
        let countable = counts.into_iter().chain(lives).all(|count| count <= FARTHEST);
        if from >= self.nodes || to >= self.nodes || !finite || !countable {
            return Err(Malformed::Value);
        }
        Ok(message)
    }
}

/// A message to be written.
pub(super) struct Draft<'a, T> {
    pub(super) header: Header,
    pub(super) standings: &'a [(u32, Standing)],
    pub(super) closes: &'a [Close],
    pub(super) beats: &'a [Beat],
    pub(super) acks: &'a [Ack],
    pub(super) row: &'a [T],
    pub(super) mass: &'a [i64],
}

impl<'a> Message<'a> {
    /// What the sender knows of members.
    pub fn standings(&self) -> impl Iterator<Item = (u32, Standing)> + 'a {
        words(self.standings).map(|[node, counter, nonce]| {
            (node as u32, Standing { incarnation: Incarnation { counter, nonce }, dead: node >> 32 != 0 })
        })
    }

    /// And of closed edges.
    pub fn closes(&self) -> impl Iterator<Item = Close> + 'a {
        words(self.closes).map(|[edge, life, generation]| Close {
            from: edge as u32,
            to: (edge >> 32) as u32,
            life,
            generation,
        })
    }

    /// Signs of life, of a few.
    pub fn beats(&self) -> impl Iterator<Item = Beat> + 'a {
        words(self.beats).map(|[node, count]| Beat { node: node as u32, life: (node >> 32) as u32, count })
    }

    /// Acknowledgements, a few.
    pub fn acks(&self) -> impl Iterator<Item = Ack> + 'a {
        words(self.acks).map(|[edge, life, sequence]| Ack {
            by: edge as u32,
            from: (edge >> 32) as u32,
            life,
            sequence,
        })
    }

    /// Pulled and largest scalars, one after the other.
    pub fn scalars<T: Scalar>(&self) -> impl Iterator<Item = T> + 'a {
        scalars(self.pulled)
    }

    /// All that was ever sent over this edge.
    pub fn mass(&self) -> impl Iterator<Item = i64> + 'a {
        mass(self.mass)
    }

    /// Its beginning, and where scalars and mass are in the bytes that were read.
    pub(super) fn places(&self) -> (Header, Range<usize>, Range<usize>) {
        let control = [self.standings, self.closes, self.beats, self.acks].iter().map(|part| part.len()).sum::<usize>();
        let pulled = HEADER + control..HEADER + control + self.pulled.len();
        let mass = pulled.end.next_multiple_of(8);
        (self.header, pulled, mass..mass + self.mass.len())
    }
}

/// Bytes as scalars.
pub(super) fn scalars<T: Scalar>(bytes: &[u8]) -> impl Iterator<Item = T> + use<'_, T> {
    bytes.chunks_exact(T::BYTES).map(T::read)
}

/// Bytes as units of mass.
pub(super) fn mass(bytes: &[u8]) -> impl Iterator<Item = i64> + use<'_> {
    words(bytes).map(|[units]| units.cast_signed())
}

fn put<const N: usize>(bytes: &mut Vec<u8>, words: [u64; N]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// Bytes as records of so many words.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> + use<'_, N> {
    let words = bytes.as_chunks::<8>().0;
    words.as_chunks::<N>().0.iter().map(|record| record.map(u64::from_le_bytes))
}
