//! The shared part of a row, as the inner loop wants it.

use std::ops::Range;

use crate::{Kind, Mask, Segment, Segments};

/// Where the shared segments of a row and their inputs are.
#[derive(Clone, Debug)]
pub(crate) struct RowLayout {
    /// The shared segments.
    pub(crate) parts: Vec<Part>,
    segments: Segments,
    /// Scalars of the shared segments: the first of a row.
    pub(crate) shared: usize,
    /// Scalars of the pushed segments, and so of an input.
    pub(crate) pushed: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The segment's place in the row, by which masks know it.
    pub(crate) index: usize,
    pub(crate) kind: Kind,
    pub(crate) row: Range<usize>,
    /// Where a pushed segment finds its input; empty for the others.
    pub(crate) input: Range<usize>,
}

impl RowLayout {
    pub(crate) fn new(segments: &Segments) -> Self {
        let mut pushed = 0;
        let mut part = |(index, (segment, row)): (usize, (Segment, Range<usize>))| {
            let start = pushed;
            pushed += if segment.kind == Kind::Push { row.len() } else { 0 };
            Part { index, kind: segment.kind, row, input: start..pushed }
        };
        let shared = segments.iter().enumerate().filter(|(_, (segment, _))| segment.kind != Kind::Own);
        let parts = shared.map(&mut part).collect();
        Self { parts, segments: segments.clone(), shared: segments.shared(), pushed }
    }

    /// Scalars that travel over each link.
    pub(crate) fn sent(&self, mask: Mask) -> usize {
        self.segments.sent(mask)
    }

    /// The pushed segments.
    pub(crate) fn pushed(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.kind == Kind::Push)
    }
}
