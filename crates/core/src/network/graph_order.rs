//! Which graph each round of a sequence has.

use std::collections::BTreeMap;

use super::topology::Topology;

/// Which graph each of the first rounds of a topology has. Graphs are numbered in the order of
/// their first rounds; after the last round, the sequence is taken to begin again.
pub(crate) struct GraphOrder {
    /// The topology's names of the graphs.
    names: Vec<u64>,
    of_round: Vec<u32>,
}

impl GraphOrder {
    /// The graphs of the first `rounds` rounds, at least one. No graph is drawn.
    pub(super) fn new(topology: &dyn Topology, rounds: u64) -> Self {
        let (mut names, mut numbers) = (Vec::new(), BTreeMap::new());
        let of_round = (0..rounds.max(1)).map(|round| {
            let name = topology.graph_of(round);
            *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            })
        });
        let of_round = of_round.collect();
        Self { names, of_round }
    }

    /// The number of rounds after which the sequence begins again.
    pub(super) fn rounds(&self) -> u64 {
        self.of_round.len() as u64
    }

    /// The number of different graphs.
    pub(super) fn graphs(&self) -> usize {
        self.names.len()
    }

    /// The topology's name of a graph.
    pub(super) fn name(&self, graph: usize) -> u64 {
        self.names[graph]
    }

    /// The graph of a round.
    pub(crate) fn graph_of(&self, round: u64) -> usize {
        self.of_round[(round % self.rounds()) as usize] as usize
    }
}
