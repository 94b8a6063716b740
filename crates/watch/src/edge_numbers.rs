//! The numbers by which frames name edges.

use std::collections::BTreeMap;

/// The edges that were named so far, in the order in which they were.
#[derive(Clone, Debug, Default)]
pub struct EdgeNumbers {
    numbers: BTreeMap<(u32, u32), usize>,
    edges: Vec<(u32, u32)>,
    /// The number of edges that frames have said.
    said: usize,
}

impl EdgeNumbers {
    /// The number of an edge from one agent to another, which is new if it was not named before.
    pub fn number(&mut self, edge: (u32, u32)) -> usize {
        *self.numbers.entry(edge).or_insert_with(|| {
            self.edges.push(edge);
            self.edges.len() - 1
        })
    }

    /// The number of an edge that was named before.
    pub(crate) fn find(&self, edge: (u32, u32)) -> Option<usize> {
        self.numbers.get(&edge).copied()
    }

    /// All edges, by number.
    pub(crate) fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// The edges that no frame has said yet: from, to, from, to, and so on.
    pub fn say_new(&mut self) -> Vec<u32> {
        let new = self.edges[self.said..].iter().flat_map(|&(from, to)| [from, to]).collect();
        self.said = self.edges.len();
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_keeps_its_number_and_is_said_once() {
        let mut numbers = EdgeNumbers::default();
        assert_eq!([(0, 1), (1, 0), (0, 1)].map(|edge| numbers.number(edge)), [0, 1, 0]);
        assert_eq!((numbers.say_new(), numbers.say_new()), (vec![0, 1, 1, 0], vec![]));
        assert_eq!((numbers.number((2, 0)), numbers.say_new()), (2, vec![2, 0]));
        assert_eq!((numbers.find((1, 0)), numbers.find((9, 9))), (Some(1), None));
    }
}
