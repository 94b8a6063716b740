//! Segments: what a row consists of, and how each part is mixed.

use std::ops::Range;

use crate::Scalar;

/// How a part of a row meets the neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Averaged by the receiver, with a row of A.
    Pull,
    /// Mass that the sender divides, with a column of B: it must never be lost nor counted twice.
    Push,
    /// The largest seen. A segment is compared as a whole, first scalar first: (window, value) is
    /// ordered by window, then value.
    Max,
    /// Private: it stays with its agent and is neither mixed nor sent. These come last in a row and
    /// may differ in length between agents.
    Private,
}

/// A part of a row that is mixed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// How the segment is mixed.
    pub kind: SegmentKind,
    /// The number of its scalars.
    pub len: usize,
}

impl Segment {
    /// A segment of this kind and length.
    pub const fn new(kind: SegmentKind, len: usize) -> Self {
        Self { kind, len }
    }
}

/// The layout of one agent's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments(Vec<Segment>);

impl Segments {
    /// This layout, in this order; the private segments come last.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> Self {
        let segments: Vec<_> = segments.into_iter().collect();
        assert!(segments.len() <= Mask::LIMIT, "a row has at most {} segments", Mask::LIMIT);
        assert!(
            segments.is_sorted_by_key(|segment| segment.kind == SegmentKind::Private),
            "private segments come last in a row"
        );
        Self(segments)
    }

    /// Each segment with its place in the row.
    pub fn iter(&self) -> impl Iterator<Item = (Segment, Range<usize>)> {
        self.0.iter().scan(0, |start, &segment| {
            let range = *start..*start + segment.len;
            *start = range.end;
            Some((segment, range))
        })
    }

    /// The scalars of all segments of one kind.
    pub fn count(&self, kind: SegmentKind) -> usize {
        self.0.iter().filter(|segment| segment.kind == kind).map(|segment| segment.len).sum()
    }

    /// The number of scalars of a row.
    pub fn width(&self) -> usize {
        self.0.iter().map(|segment| segment.len).sum()
    }

    /// The scalars of a row that neighbours may see: the first ones.
    pub fn shared(&self) -> usize {
        self.width() - self.count(SegmentKind::Private)
    }

    /// The scalars that travel over each link in a round with this mask.
    pub fn sent(&self, mask: Mask) -> usize {
        let travels = |&(index, segment): &(usize, &Segment)| segment.kind != SegmentKind::Private && mask.has(index);
        self.0.iter().enumerate().filter(travels).map(|(_, segment)| segment.len).sum()
    }
}

/// Which segments are exchanged in a round. One that is not stays as it is: nothing is averaged, no
/// mass moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(u32);

impl Mask {
    /// The mask of all segments.
    pub const ALL: Self = Self(u32::MAX);
    /// The mask of no segment: a local round.
    pub const NONE: Self = Self(0);
    /// How many segments a row has at most.
    pub const LIMIT: usize = 32;

    /// These segments, by their index in the row.
    pub fn of(indices: impl IntoIterator<Item = usize>) -> Self {
        Self(indices.into_iter().fold(0, |bits, index| bits | 1 << index))
    }

    /// As a number: one bit for each segment.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The mask of this number.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether the segment with this index is exchanged.
    pub const fn has(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }
}

/// Whether a `Max` segment is larger than the best so far: compared scalar by scalar, the first
/// that differs decides.
pub fn larger<T: Scalar>(best: &[T], other: &[T]) -> bool {
    let differs = best.iter().zip(other).find(|(best, other)| best != other);
    differs.is_some_and(|(&best, &other)| best.largest(other) != best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_scalars_never_count_as_sent() {
        let segments = Segments::new([
            Segment::new(SegmentKind::Pull, 3),
            Segment::new(SegmentKind::Push, 5),
            Segment::new(SegmentKind::Private, 7),
        ]);
        assert_eq!((segments.width(), segments.shared()), (15, 8));
        assert_eq!(segments.sent(Mask::ALL), 8);
        assert_eq!(segments.sent(Mask::of([1, 2])), 5);
        assert_eq!(segments.sent(Mask::NONE), 0);
    }

    #[test]
    #[should_panic(expected = "private segments come last")]
    fn a_private_segment_in_the_middle_is_refused() {
        Segments::new([Segment::new(SegmentKind::Private, 1), Segment::new(SegmentKind::Pull, 1)]);
    }
}
