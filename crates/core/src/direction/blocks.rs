//! Blocks: the named parts of a point.

use std::ops::Range;

/// The named parts of a point, such as x, y and z.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks(Vec<(&'static str, usize)>);

impl Blocks {
    /// These blocks, in this order.
    pub fn new(blocks: impl IntoIterator<Item = (&'static str, usize)>) -> Self {
        Self(blocks.into_iter().collect())
    }

    /// The names of the blocks, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|&(name, _)| name)
    }

    /// The places of the blocks in a point, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().scan(0, |start, &(_, len)| {
            let range = *start..*start + len;
            *start = range.end;
            Some(range)
        })
    }

    /// The place of a block in a point.
    pub fn range(&self, name: &str) -> Option<Range<usize>> {
        self.names().zip(self.ranges()).find(|(known, _)| *known == name).map(|(_, range)| range)
    }

    /// The number of scalars of all blocks.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, len)| len).sum()
    }
}
