//! The shared part of a row, as the inner loop wants it.

use std::ops::Range;

use crate::algorithm::{Mask, Segment, SegmentKind, Segments};

/// Where the shared segments of a row are, and where what an agent contributes to them is.
#[derive(Clone, Debug)]
pub struct RowLayout {
    /// The shared segments, in order.
    pub(crate) spans: Vec<SegmentSpan>,
    segments: Segments,
    /// The number of scalars of the shared segments, which come first in a row.
    pub(crate) shared: usize,
    /// The number of scalars of the pushed segments, and so of a contribution.
    pub(crate) pushed: usize,
}

/// Where one shared segment is.
#[derive(Clone, Debug)]
pub struct SegmentSpan {
    /// The segment's place in the list of segments, by which masks know it.
    pub(crate) index: usize,
    /// How the segment is mixed.
    pub(crate) kind: SegmentKind,
    /// Where it is in a row.
    pub row: Range<usize>,
    /// Where an agent's contribution to a pushed segment is; empty for other segments.
    pub input: Range<usize>,
}

impl RowLayout {
    /// The layout of rows that consist of these segments.
    pub fn new(segments: &Segments) -> Self {
        let mut pushed = 0;
        let mut span = |(index, (segment, row)): (usize, (Segment, Range<usize>))| {
            let start = pushed;
            pushed += if segment.kind == SegmentKind::Push { row.len() } else { 0 };
            SegmentSpan { index, kind: segment.kind, row, input: start..pushed }
        };
        let shared = segments.iter().enumerate().filter(|(_, (segment, _))| segment.kind != SegmentKind::Private);
        let spans = shared.map(&mut span).collect();
        Self { spans, segments: segments.clone(), shared: segments.shared(), pushed }
    }

    /// The number of scalars that travel over each link in a round with this mask.
    pub(crate) fn sent(&self, mask: Mask) -> usize {
        self.segments.sent(mask)
    }

    /// The pushed segments, in order.
    pub fn pushed(&self) -> impl Iterator<Item = &SegmentSpan> {
        self.spans.iter().filter(|span| span.kind == SegmentKind::Push)
    }
}
