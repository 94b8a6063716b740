//! The torus: rows and columns that are rings.

use super::Topology;
use crate::Digraph;

/// Agents in rows and columns that are closed to rings, as near to a square as their number can be
/// divided: each hears the one above, below, to the left and to the right, in every round. A prime
/// number of agents makes one ring with links both ways.
#[derive(Clone, Copy, Debug)]
pub struct Torus {
    rows: usize,
    columns: usize,
}

impl Torus {
    /// The torus of this many agents.
    pub fn new(agents: usize) -> Self {
        let rows = (1..=agents.isqrt()).rev().find(|rows| agents.is_multiple_of(*rows)).unwrap_or(1);
        Self { rows, columns: agents / rows }
    }
}

impl Topology for Torus {
    fn agents(&self) -> usize {
        self.rows * self.columns
    }

    fn graph_of(&self, _round: u64) -> u64 {
        0
    }

    fn draw(&self, _name: u64, graph: &mut Digraph) {
        let Self { rows, columns } = *self;
        graph.draw(4.0 * self.agents() as f64, |agent, sources| {
            let (row, column) = (agent / columns, agent % columns);
            let mut neighbours = [
                (row + 1) % rows * columns + column,
                (row + rows - 1) % rows * columns + column,
                row * columns + (column + 1) % columns,
                row * columns + (column + columns - 1) % columns,
            ];
            neighbours.sort_unstable();
            for (place, &source) in neighbours.iter().enumerate() {
                // In a row or a column of two, both directions lead to the same agent.
                if source != agent && !neighbours[..place].contains(&source) {
                    sources.push(source);
                }
            }
        });
    }

    fn period(&self) -> Option<u64> {
        Some(1)
    }

    fn spread(&self) -> Option<u64> {
        Some((self.rows / 2 + self.columns / 2) as u64)
    }
}
