//! Estimates of the memory of a run, made before graphs are drawn and states are allocated.

use fabnet_core::{Algorithm, Problem, ProblemExt, Scalar, SegmentKind, Topology};
use serde::Serialize;

use crate::memory::Memory;
use crate::number::{bytes, count};

/// The memory that one run needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryNeeds {
    /// The expected number of links in the round that has the most.
    pub links: f64,
    /// Bytes of the graphs that are in memory at a time, with their mixing weights.
    pub graph_bytes: f64,
    /// Bytes of the agents' states: rows, memory and contributions.
    pub state_bytes: f64,
    /// Bytes of the problem's data, where the problem says how many these are.
    pub data_bytes: f64,
}

impl MemoryNeeds {
    /// Bytes of an entry of the mixing matrices: a source and two weights, and two more sources
    /// while the graph is drawn.
    const ENTRY: f64 = 4.0 + 2.0 * 8.0 + 2.0 * 4.0;
    /// Bytes of a link while it is found how information spreads: a copy without weights, and a
    /// neighbour with its graph.
    const SEARCH: f64 = 4.0 + 8.0;
    /// Bytes of an agent: ends of rows, degrees, and the state of that search.
    const AGENT: f64 = 2.0 * 12.0 + 2.0 * 24.0;

    /// The needs of the network alone. No graph is drawn.
    pub(crate) fn of_network(topology: &dyn Topology) -> Self {
        let (links, agents) = (topology.links(), topology.agents() as f64);
        let entries = links + agents;
        let drawn = fabnet_core::Network::graphs_kept(topology, entries) as f64;
        let graph_bytes = entries * (drawn * Self::ENTRY).max(Self::ENTRY + Self::SEARCH) + agents * Self::AGENT;
        Self { links, graph_bytes, ..Self::default() }
    }

    /// Adds the states of this many agents and their data, extrapolated from a problem that may
    /// have fewer agents.
    pub(crate) fn with_agents<T: Scalar>(
        self,
        problem: &dyn Problem<T>,
        algorithm: &dyn Algorithm<T>,
        agents: usize,
    ) -> Self {
        let scalars = |agent: usize| {
            let own = problem.private(agent);
            let segments = algorithm.segments(own);
            2 * segments.width() + algorithm.keep(own) + segments.count(SegmentKind::Push)
        };
        let known = problem.agents();
        let scale = agents as f64 / known as f64;
        let state_bytes = (0..known).map(scalars).sum::<usize>() as f64 * T::BYTES as f64 * scale;
        Self { state_bytes, data_bytes: problem.data_bytes() as f64 * scale, ..self }
    }

    /// All bytes together.
    pub fn bytes(&self) -> f64 {
        self.graph_bytes + self.state_bytes + self.data_bytes
    }

    /// Refuses a run that can never fit into the memory of this machine.
    pub(crate) fn refuse_impossible(&self, agents: usize, topology: &str) -> Result<(), MemoryShortage> {
        match Memory::here() {
            Some(Memory { total, .. }) if self.bytes() > total => Err(self.shortage(agents, topology, total)),
            _ => Ok(()),
        }
    }

    /// The error that says that this memory does not suffice.
    pub(crate) fn shortage(&self, agents: usize, topology: &str, memory: f64) -> MemoryShortage {
        MemoryShortage { agents, topology: topology.to_owned(), needs: *self, memory }
    }
}

/// A run needs more memory than there is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{} agents on `{topology}` with about {} links a round need about {} of memory ({}), but {} can be used here: {}",
    count(*agents as f64),
    count(needs.links),
    bytes(needs.bytes()),
    needs.parts(),
    bytes(*memory),
    needs.advice()
)]
pub struct MemoryShortage {
    /// The number of agents.
    pub agents: usize,
    /// The kind of the topology.
    pub topology: String,
    /// The memory that the run needs.
    pub needs: MemoryNeeds,
    /// The bytes of memory that there are.
    pub memory: f64,
}

impl MemoryNeeds {
    /// What the memory is needed for, in words.
    fn parts(&self) -> String {
        let parts = [("graphs", self.graph_bytes), ("states", self.state_bytes), ("data", self.data_bytes)];
        let needed = parts.iter().filter(|(_, size)| *size > 0.0);
        needed.map(|(name, size)| format!("{name} {}", bytes(*size))).collect::<Vec<_>>().join(", ")
    }

    /// How a run can be changed to need less memory.
    fn advice(&self) -> &'static str {
        if self.graph_bytes > 0.5 * self.bytes() {
            "take a topology with fewer links (one-peer-exponential, or a smaller edge_probability), or fewer agents"
        } else {
            "take fewer agents, precision = \"f32\", or a machine with more memory"
        }
    }
}

/// More runs at a time than fit into the memory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{parallel} runs at a time need about {} of memory, but {} are available: {}",
    bytes(*parallel as f64 * largest),
    bytes(*available),
    self.advice()
)]
pub struct TooManyRuns {
    /// The number of runs at a time.
    pub parallel: usize,
    /// The bytes that the largest run needs.
    pub largest: f64,
    /// The bytes that are available.
    pub available: f64,
}

impl TooManyRuns {
    /// Refuses more runs at a time than fit into the memory, if the system says how much there is.
    pub(crate) fn check(parallel: usize, largest: f64, available: Option<f64>) -> Result<(), Self> {
        match available {
            Some(available) if largest * parallel as f64 > available => Err(Self { parallel, largest, available }),
            _ => Ok(()),
        }
    }

    fn advice(&self) -> String {
        match (self.available / self.largest) as usize {
            0 => "one of them alone is too large: take fewer agents, fewer links or precision = \"f32\"".to_owned(),
            fitting => format!("give --threads {fitting}, so that fewer run at a time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabnet_core::topology::{Complete, ErdosRenyi, Redraw, Ring};

    #[test]
    fn a_million_agents_on_a_complete_graph_need_terabytes() {
        let needs = MemoryNeeds::of_network(&Complete::new(1_000_000));
        assert!(needs.graph_bytes > 20e12, "{needs:?}");
        let sparse = MemoryNeeds::of_network(&ErdosRenyi::new(100_000, 1e-4, 0, Redraw::Once).with_ring());
        assert!(sparse.graph_bytes < 200e6, "{sparse:?}");
        assert!(MemoryNeeds::of_network(&Ring::new(1_000_000)).graph_bytes < 300e6);
    }
}
