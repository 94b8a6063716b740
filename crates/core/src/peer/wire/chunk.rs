//! Chunks: the parts of a segment that are encoded one by one.
//!
//! | bytes | part |
//! |---|---|
//! | 1 | the shift of its words in the low six bits, their length in the high two; or [`FULL`] |
//! | 8 | the guard: a weighted sum of its numbers, which wraps around; not in full |
//! | 1, 2 or 4 each | words; in full, scalars as they are, or mass in 8 bytes |

use std::ops::Range;

use super::guard::{CHUNK, guard};
use super::modulo::{LARGEST_SHIFT, WordLength, complete_words, smallest_shift, write_words};
use crate::num::extend;
use crate::{Mask, RowLayout, Scalar, SegmentKind};

/// What stands in the place of a shift where a chunk is sent in full.
pub(crate) const FULL: u8 = u8::MAX;

/// The bytes of a guard.
const GUARD: usize = 8;

/// One chunk of all rows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The segment that it belongs to, by which masks know it.
    segment: usize,
    /// Its place in a row; in the ledger, if it is pushed.
    pub(crate) place: Range<usize>,
}

impl Chunk {
    /// The chunks of all segments of a kind, in order.
    pub(super) fn all_of(layout: &RowLayout, kind: SegmentKind) -> Vec<Self> {
        let spans = layout.spans.iter().filter(|span| span.kind == kind);
        let chunks = spans.flat_map(|span| {
            let place = if kind == SegmentKind::Push { span.input.clone() } else { span.row.clone() };
            let starts = place.clone().step_by(CHUNK);
            starts.map(move |start| Self { segment: span.index, place: start..place.end.min(start + CHUNK) })
        });
        chunks.collect()
    }

    /// Whether a message with this mask carries the chunk.
    pub(crate) fn is_in(&self, mask: Mask) -> bool {
        mask.has(self.segment)
    }

    /// The bytes of this chunk with words of this length, or in full if that is shorter.
    pub(crate) fn shortest(&self, length: WordLength, scalar: usize) -> usize {
        let (scalars, full) = (self.place.len(), 1 + self.place.len() * scalar);
        if length == WordLength::Full { full } else { full.min(1 + GUARD + scalars * length.bytes()) }
    }

    /// The words for this chunk, whose scalars have this many bytes in full: the shortest of at
    /// least this length that tell numbers apart which differ by at most `bound`, and whose shift
    /// is fine enough. `None` asks for the chunk in full.
    pub(crate) fn words(
        &self,
        least: WordLength,
        scalar: usize,
        bound: Option<u128>,
        is_fine: impl Fn(u32) -> bool,
    ) -> Option<WordKind> {
        let (bound, scalars) = (bound?, self.place.len());
        let lengths = WordLength::ALL.into_iter().filter(|&length| length >= least);
        let gaining = lengths.filter(|length| GUARD + scalars * length.bytes() < scalars * scalar);
        let words = gaining.filter_map(|length| Some(WordKind { length, shift: smallest_shift(bound, length)? }));
        words.into_iter().find(|words| is_fine(words.shift))
    }
}

/// The words of a chunk: how long they are, and what they leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordKind {
    pub(crate) length: WordLength,
    pub(crate) shift: u32,
}

impl WordKind {
    /// Numbers are rounded to at most this part of what has changed: one in 8. Coarser words cost
    /// rounds.
    const PARTS_OF_CHANGE: u64 = 8;

    /// Whether rounding by this shift is small beside a change.
    pub(crate) fn is_fine(shift: u32, change: u64) -> bool {
        shift == 0 || change >> shift >= Self::PARTS_OF_CHANGE
    }

    /// The byte that says so in a message.
    fn byte(self) -> u8 {
        self.shift as u8 | (self.length as u8) << 6
    }

    fn of_byte(byte: u8) -> Option<Self> {
        let length = *WordLength::ALL.get(usize::from(byte >> 6)).filter(|&&length| length != WordLength::Full)?;
        let shift = u32::from(byte & 63);
        (shift <= LARGEST_SHIFT).then_some(Self { length, shift })
    }
}

/// A chunk as it stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncodedChunk<'a> {
    /// Its scalars or its mass as they are.
    Full(&'a [u8]),
    /// Words to be completed.
    Words {
        /// How long the words are, and what they leave out.
        kind: WordKind,
        /// The guard of the numbers that the words stand for.
        guard: u64,
        /// The words, one after the other.
        words: &'a [u8],
    },
}

impl<'a> EncodedChunk<'a> {
    /// Reads the chunk at the beginning of some bytes, and returns it with its length; `None` if
    /// they do not begin with one of this many scalars.
    pub(crate) fn read(bytes: &'a [u8], scalars: usize, scalar: usize) -> Option<(Self, usize)> {
        let (&first, rest) = bytes.split_first()?;
        if first == FULL {
            let full = rest.get(..scalars * scalar)?;
            return Some((Self::Full(full), 1 + full.len()));
        }
        let kind = WordKind::of_byte(first)?;
        let (guard, rest) = rest.split_first_chunk()?;
        let words = rest.get(..scalars * kind.length.bytes())?;
        let encoded = Self::Words { kind, guard: u64::from_le_bytes(*guard), words };
        Some((encoded, 1 + GUARD + words.len()))
    }

    /// Whether its scalars or its mass stand in it as they are.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Completes the numbers of words from those that are known, or reads those of mass in full,
    /// and returns whether they are what their sender says.
    pub(crate) fn complete(self, known: &[i64], numbers: &mut [i64]) -> bool {
        match self {
            Self::Full(bytes) => complete_words(WordLength::Full, bytes, 0, known, numbers),
            Self::Words { kind, words, .. } => complete_words(kind.length, words, kind.shift, known, numbers),
        }
        match self {
            Self::Full(_) => true,
            Self::Words { kind, guard: expected, .. } => guard(numbers, kind.shift) == expected,
        }
    }
}

/// Writes the scalars of a chunk as they are.
pub(crate) fn write_full<T: Scalar>(scalars: &[T], bytes: &mut Vec<u8>) {
    bytes.push(FULL);
    T::write_all(scalars, bytes);
}

/// Writes a chunk of numbers as words: scalars in units, or mass.
pub(crate) fn write_numbers(numbers: &[i64], kind: WordKind, bytes: &mut Vec<u8>) {
    bytes.push(kind.byte());
    bytes.extend(guard(numbers, kind.shift).to_le_bytes());
    write_words(kind.length, numbers, kind.shift, bytes);
}

/// Writes a chunk of mass as it is.
pub(crate) fn write_full_mass(sums: &[i64], bytes: &mut Vec<u8>) {
    bytes.push(FULL);
    extend(bytes, sums, i64::to_le_bytes);
}
