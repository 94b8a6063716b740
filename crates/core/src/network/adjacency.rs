//! Neighbours of agents over several graphs, in two arrays.

use super::digraph::row_start;

/// The neighbours of each agent over several graphs, as compressed sparse rows.
#[derive(Default)]
pub(super) struct Adjacency {
    ends: Vec<usize>,
    neighbours: Vec<Neighbour>,
}

/// A neighbour, and the graph in which it is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbour {
    pub(super) agent: u32,
    pub(super) graph: u32,
}

impl Adjacency {
    /// The neighbours that `list` tells of, agent by agent in the order in which it does. It is
    /// called twice, to count them and to put them in place.
    pub(super) fn new(agents: usize, list: impl Fn(&mut dyn FnMut(usize, Neighbour))) -> Self {
        let mut adjacency = Self::default();
        adjacency.fill(agents, list);
        adjacency
    }

    /// Replaces all neighbours, in the same memory.
    pub(super) fn fill(&mut self, agents: usize, list: impl Fn(&mut dyn FnMut(usize, Neighbour))) {
        let Self { ends, neighbours } = self;
        ends.clear();
        ends.resize(agents, 0);
        list(&mut |agent, _| ends[agent] += 1);
        let mut total = 0;
        for end in ends.iter_mut() {
            // For now it is where the row begins; it moves to the end as neighbours come.
            total += std::mem::replace(end, total);
        }
        neighbours.resize(total, Neighbour::default());
        if total > 0 {
            list(&mut |agent, neighbour| {
                neighbours[ends[agent]] = neighbour;
                ends[agent] += 1;
            });
        }
    }

    /// The neighbours of an agent.
    pub(super) fn of(&self, agent: usize) -> &[Neighbour] {
        &self.neighbours[row_start(&self.ends, agent)..self.ends[agent]]
    }

    /// The neighbours of all agents together.
    pub(super) fn len(&self) -> usize {
        self.neighbours.len()
    }
}
