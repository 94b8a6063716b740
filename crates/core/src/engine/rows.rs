//! Rows of agents in one piece of memory.

use std::sync::Arc;

/// One row for each agent, of one width or ragged.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    data: Vec<T>,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Layout {
    Uniform(usize),
    /// Where rows start, and at the end where the last one ends.
    Ragged(Arc<[usize]>),
}

impl<T: Copy + Default> Rows<T> {
    /// Rows of these widths, filled with zeros.
    pub(crate) fn new(widths: &[usize]) -> Self {
        let layout = match widths {
            [] => Layout::Uniform(0),
            [first, rest @ ..] if rest.iter().all(|width| width == first) => Layout::Uniform(*first),
            _ => Layout::Ragged(
                std::iter::once(0)
                    .chain(widths.iter().scan(0, |end, width| {
                        *end += width;
                        Some(*end)
                    }))
                    .collect(),
            ),
        };
        Self { data: vec![T::default(); widths.iter().sum()], layout }
    }

    pub(crate) fn row(&self, agent: usize) -> &[T] {
        &self.data[self.layout.start(agent)..self.layout.start(agent + 1)]
    }

    /// All rows and their width, where that is one.
    pub(crate) fn uniform(&self) -> Option<(&[T], usize)> {
        match self.layout {
            Layout::Uniform(width) => Some((&self.data, width)),
            Layout::Ragged(_) => None,
        }
    }

    pub(crate) fn as_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut { data: &mut self.data, layout: &self.layout, first: 0 }
    }

    /// Copies rows of the same widths.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.data.copy_from_slice(&other.data);
    }

    /// All rows, one after the other.
    pub(crate) fn all(&self) -> &[T] {
        &self.data
    }

    /// All rows, one after the other, to be written.
    pub(crate) fn all_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The number of scalars of all rows.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }
}

impl Layout {
    fn start(&self, agent: usize) -> usize {
        match self {
            Self::Uniform(width) => agent * width,
            Self::Ragged(starts) => starts[agent],
        }
    }
}

/// A run of successive rows to be written, which can be split between threads.
#[derive(Debug)]
pub(crate) struct RowsMut<'a, T> {
    data: &'a mut [T],
    layout: &'a Layout,
    first: usize,
}

impl<'a, T> RowsMut<'a, T> {
    /// The row of one agent, to be written.
    pub(crate) fn row(&mut self, agent: usize) -> &mut [T] {
        let offset = self.layout.start(self.first);
        &mut self.data[self.layout.start(agent) - offset..self.layout.start(agent + 1) - offset]
    }

    /// Takes the first row off.
    #[inline]
    pub(crate) fn take_row(&mut self) -> &'a mut [T] {
        let width = match self.layout {
            Layout::Uniform(width) => *width,
            Layout::Ragged(starts) => starts[self.first + 1] - starts[self.first],
        };
        self.first += 1;
        self.data.split_off_mut(..width).expect("there is a row for each agent")
    }

    /// The rows before an agent, and those from it on.
    pub(crate) fn split_at(self, agent: usize) -> (Self, Self) {
        let (before, after) = self.data.split_at_mut(self.layout.start(agent) - self.layout.start(self.first));
        let half = |data, first| RowsMut { data, layout: self.layout, first };
        (half(before, self.first), half(after, agent))
    }
}
