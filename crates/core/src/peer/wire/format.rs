//! The format of the messages of one run.
//!
//! All numbers are little-endian:
//!
//! | bytes | part |
//! |---|---|
//! | 128 | the header: sender, receiver, time, and how the rest is to be read |
//! | | the control section: gossip, part by part |
//! | 4 or 8 each | scalars of the largest segments, if any |
//! | | chunks of pulled segments, if any |
//! | | chunks of mass: all that was ever sent over this edge, if any |
//! | | an authenticator, which has no bytes yet |
//! | 8 | a checksum (XXH3) of all of the above |
//!
//! The [`WireFormat`] bounds the length of each part: a message that is longer or shorter than its
//! parts is refused, and no memory is allocated for it.

use std::ops::Range;

use twox_hash::XxHash3_64;

use super::chunk::{Chunk, EncodedChunk};
use super::control::Control;
use super::header::{HEADER, read_header, write_header};
use super::message::{Body, Contents, Header, Malformed, Message};
use super::modulo::WordLength;
use super::words::put;
use crate::RowLayout;
use crate::peer::membership::LONGEST_SEAL;
use crate::peer::membership::{GossipPayload, STATES_PER_MESSAGE};
use crate::{Mask, Scalar, SegmentKind, Segments};

/// What all peers of a run know before the first message: it decides how long a message can be.
#[derive(Clone, Debug)]
pub struct WireFormat {
    run: u64,
    nodes: u32,
    length: WordLength,
    /// The bytes of a seal.
    seal: usize,
    layout: RowLayout,
    pulled: Vec<Chunk>,
    pushed: Vec<Chunk>,
}

/// No run counts this far. Larger counts are refused, so that no sum of counts overflows.
const LARGEST_COUNT: u64 = 1 << 62;

const CHECKSUM: usize = 8;

/// The largest number of bytes of an authenticator.
const AUTHENTICATOR_ROOM: usize = 128;

impl WireFormat {
    /// The format of the run with this number, among this many nodes that exchange these segments
    /// in words of this length.
    pub fn new(run: u64, nodes: usize, segments: &Segments, length: WordLength) -> Self {
        let layout = RowLayout::new(segments);
        let [pulled, pushed] = [SegmentKind::Pull, SegmentKind::Push].map(|kind| Chunk::all_of(&layout, kind));
        Self { run, nodes: nodes as u32, length, seal: 0, layout, pulled, pushed }
    }

    /// The same format with seals of this many bytes, of [`LONGEST_SEAL`] at most.
    pub fn with_seals(self, bytes: usize) -> Self {
        Self { seal: bytes.min(LONGEST_SEAL), ..self }
    }

    /// The largest number of nodes that can take part.
    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    /// The length of the words in which scalars and mass travel.
    pub(crate) fn length(&self) -> WordLength {
        self.length
    }

    /// The chunks of all pulled segments.
    pub(crate) fn pulled_chunks(&self) -> &[Chunk] {
        &self.pulled
    }

    /// The number of pulled chunks that may be sent as words: all, or none.
    pub(crate) fn completed_chunks(&self) -> usize {
        if self.length == WordLength::Full { 0 } else { self.pulled.len() }
    }

    /// The chunks of all pushed segments.
    pub(crate) fn pushed_chunks(&self) -> &[Chunk] {
        &self.pushed
    }

    /// The largest number of member states in a message, and of closed edges.
    pub(crate) fn states_per_message(&self) -> usize {
        self.nodes().min(STATES_PER_MESSAGE)
    }

    /// The bytes of the longest message there can be, with scalars of this many bytes: no chunk is
    /// longer than in full.
    pub fn longest(&self, scalar: usize) -> usize {
        HEADER
            + Control::longest(self.states_per_message(), self.seal)
            + (self.layout.shared - self.layout.pushed) * scalar
            + self.layout.pushed * 8
            + self.pulled.len()
            + self.pushed.len()
            + AUTHENTICATOR_ROOM
            + CHECKSUM
    }

    /// The bytes of scalars and mass in a message with these contents whose chunks all have words
    /// of the least length, with scalars of this many bytes.
    pub fn payload(&self, mask: Mask, contents: Contents, scalar: usize) -> usize {
        let chunks = |chunks: &[Chunk], scalar: usize| -> usize {
            let carried = chunks.iter().filter(|chunk| chunk.is_in(mask));
            carried.map(|chunk| chunk.shortest(self.length, scalar)).sum()
        };
        let largest = || self.largest(mask).map(|range| range.len()).sum::<usize>() * scalar;
        let pulled = if contents.pulled { largest() + chunks(&self.pulled, scalar) } else { 0 };
        pulled + if contents.mass { chunks(&self.pushed, size_of::<i64>()) } else { 0 }
    }

    /// Where the segments of a row are.
    pub(crate) fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The places in a row of the largest segments of a mask.
    pub(crate) fn largest(&self, mask: Mask) -> impl Iterator<Item = Range<usize>> {
        let spans = self.layout.spans.iter();
        spans.filter(move |span| mask.has(span.index) && span.kind == SegmentKind::Max).map(|span| span.row.clone())
    }

    /// Begins a message: its header and its gossip. Scalars and mass follow, then
    /// [`WireFormat::end`].
    pub(crate) fn begin(&self, header: &Header, gossip: &GossipPayload, capacity: usize) -> Vec<u8> {
        let mut control = Vec::new();
        Control::write(gossip, &mut control);
        let mut bytes = Vec::with_capacity(HEADER + control.len() + capacity + CHECKSUM);
        write_header(header, self.run, control.len(), self.length, &mut bytes);
        bytes.append(&mut control);
        bytes
    }

    /// Ends a message with its checksum.
    pub(crate) fn end(bytes: &mut Vec<u8>) {
        let checksum = XxHash3_64::oneshot(bytes);
        put(bytes, [checksum]);
    }

    /// Reads a message, or says why the bytes are not one of this run.
    pub fn read<'a, T: Scalar>(&self, bytes: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let (header, layout) = read_header(bytes, self.length)?;
        if layout.run != self.run {
            return Err(Malformed::Run);
        }
        if layout.authenticator > AUTHENTICATOR_ROOM {
            return Err(Malformed::Length);
        }
        let (rest, checksum) = bytes.split_at_checked(bytes.len().wrapping_sub(CHECKSUM)).ok_or(Malformed::Length)?;
        let start = HEADER + layout.control;
        let body = rest.len().checked_sub(start + layout.authenticator).ok_or(Malformed::Length)?;
        let states = self.states_per_message();
        let control = Control::read(&bytes[HEADER..start], states, self.seal).ok_or(Malformed::Length)?;
        let places = self.body::<T>(&header, rest, start..start + body).ok_or(Malformed::Length)?;
        if checksum != XxHash3_64::oneshot(rest).to_le_bytes() {
            return Err(Malformed::Checksum);
        }
        let message = Message { header, control, bytes, body: places };
        if self.is_plausible::<T>(&message) { Ok(message) } else { Err(Malformed::Value) }
    }

    /// Where the scalars and the mass of a message stand, or `None` if they do not fill the body.
    fn body<T: Scalar>(&self, header: &Header, bytes: &[u8], body: Range<usize>) -> Option<Body> {
        let mut at = body.start;
        let mut places = Body::default();
        if header.contents.pulled {
            let largest: usize = self.largest(header.mask).map(|range| range.len()).sum();
            at += largest * T::BYTES;
            places.largest = body.start..at;
            places.pulled = chunk_places(&self.pulled, header.mask, T::BYTES, bytes, &mut at, body.end)?;
        }
        if header.contents.mass {
            places.mass = chunk_places(&self.pushed, header.mask, size_of::<i64>(), bytes, &mut at, body.end)?;
        }
        (at == body.end).then_some(places)
    }

    /// Whether nodes exist, counts are possible and scalars are finite.
    fn is_plausible<T: Scalar>(&self, message: &Message<'_>) -> bool {
        let header = &message.header;
        // All of them: a loop that may end anywhere is slower.
        let finite = message.full_scalars::<T>().fold(true, |all, scalar| all & scalar.is_finite());
        let counts = [header.epoch, header.round, header.sequence, header.generation, header.incarnation.counter];
        let lives = message.control.member_states().map(|(_, state)| state.incarnation.counter);
        let countable = counts.into_iter().chain(lives).all(|count| count <= LARGEST_COUNT);
        header.from < self.nodes && header.to < self.nodes && finite && countable
    }
}

/// Where each of these chunks stands, from `at` on; those that the mask leaves out are empty.
fn chunk_places(
    chunks: &[Chunk],
    mask: Mask,
    scalar: usize,
    bytes: &[u8],
    at: &mut usize,
    end: usize,
) -> Option<Vec<Range<usize>>> {
    let mut place = |chunk: &Chunk| {
        let start = *at;
        if chunk.is_in(mask) {
            let rest = bytes.get(start..end)?;
            *at += EncodedChunk::read(rest, chunk.place.len(), scalar)?.1;
        }
        Some(start..*at)
    };
    chunks.iter().map(&mut place).collect()
}
