//! Resource estimates: what a run needs, known before graphs are drawn and states are allocated.

use fabnet_core::{Algorithm, Kind, Problem, Scalar, Topology};
use serde::Serialize;

use crate::memory::Memory;
use crate::setup::SetupError;

/// The memory that one run needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Needs {
    /// Expected links in the round that has the most.
    pub links: f64,
    /// Bytes of the graphs that are in memory at a time, with their mixing weights.
    pub graph_bytes: f64,
    /// Bytes of the agents' states: rows, what stays with agents, and inputs.
    pub state_bytes: f64,
    /// Bytes of the problem's data, where the problem says.
    pub data_bytes: f64,
}

impl Needs {
    /// A source and two weights in a mixing, and two more sources while it is drawn.
    const ENTRY: f64 = 4.0 + 2.0 * 8.0 + 2.0 * 4.0;
    /// Both directions of a link, while connectivity is looked for.
    const SEARCH: f64 = 2.0 * 8.0 * 1.5;
    /// Ends of rows, degrees, and the lists of that search.
    const AGENT: f64 = 2.0 * 12.0 + 2.0 * 24.0;

    /// Of the network alone. Nothing is drawn.
    pub(crate) fn of_network(topology: &dyn Topology) -> Self {
        let (links, agents) = (topology.links(), topology.agents() as f64);
        let entries = links + agents;
        let drawn = fabnet_core::Network::graphs_kept(topology, entries) as f64;
        let graph_bytes = entries * (drawn * Self::ENTRY).max(Self::ENTRY + Self::SEARCH) + agents * Self::AGENT;
        Self { links, graph_bytes, ..Self::default() }
    }

    /// With the states of this many agents and their data, known from a problem that may have
    /// fewer agents.
    pub(crate) fn with_agents<T: Scalar>(
        self,
        problem: &dyn Problem<T>,
        algorithm: &dyn Algorithm<T>,
        agents: usize,
    ) -> Self {
        let scalars = |agent: usize| {
            let own = problem.private(agent);
            let segments = algorithm.segments(own);
            2 * segments.width() + algorithm.keep(own) + segments.count(Kind::Push)
        };
        let known = problem.agents();
        let scale = agents as f64 / known as f64;
        let state_bytes = (0..known).map(scalars).sum::<usize>() as f64 * T::BYTES as f64 * scale;
        Self { state_bytes, data_bytes: problem.data_bytes() as f64 * scale, ..self }
    }

    /// All of it.
    pub fn bytes(&self) -> f64 {
        self.graph_bytes + self.state_bytes + self.data_bytes
    }

    /// Refuses what can never fit into the memory of this machine.
    pub(crate) fn refuse_impossible(&self, agents: usize, topology: &str) -> Result<(), SetupError> {
        match Memory::here() {
            Some(Memory { total, .. }) if self.bytes() > total => Err(self.refusal(agents, topology, total)),
            _ => Ok(()),
        }
    }

    /// Why so much memory does not suffice, and what to do.
    pub(crate) fn refusal(&self, agents: usize, topology: &str, memory: f64) -> SetupError {
        let parts = [("graphs", self.graph_bytes), ("states", self.state_bytes), ("data", self.data_bytes)];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(_, size)| *size > 0.0)
            .map(|(name, size)| format!("{name} {}", bytes(*size)))
            .collect();
        let advice = if self.graph_bytes > 0.5 * self.bytes() {
            "take a topology with fewer links (one-peer-exponential, or a smaller edge_probability), or fewer agents"
        } else {
            "take fewer agents, precision = \"f32\", or a machine with more memory"
        };
        SetupError::Impossible(format!(
            "{} agents on `{topology}` with about {} links a round need about {} of memory ({}), but {} can be used here: {advice}",
            count(agents as f64),
            count(self.links),
            bytes(self.bytes()),
            parts.join(", "),
            bytes(memory)
        ))
    }
}

/// A number of bytes as people write it.
pub(crate) fn bytes(size: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let power = ((size.max(1.0).log10() / 3.0) as u8).min(units.len() as u8 - 1);
    format!("{:.1} {}", size / 1000f64.powi(power.into()), units[usize::from(power)])
}

/// A count as people write it: digits in groups of three, or a power of ten where there are many.
pub(crate) fn count(number: f64) -> String {
    if number >= 1e10 {
        return format!("{number:.1e}");
    }
    let digits = format!("{number:.0}");
    let grouped = digits.char_indices().flat_map(|(place, digit)| {
        let comma = place > 0 && (digits.len() - place).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    });
    grouped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabnet_core::topology::{Complete, ErdosRenyi, Redraw, Ring};

    #[test]
    fn a_million_agents_on_a_complete_graph_need_terabytes() {
        let needs = Needs::of_network(&Complete::new(1_000_000));
        assert!(needs.graph_bytes > 20e12, "{needs:?}");
        let sparse = Needs::of_network(&ErdosRenyi::new(100_000, 1e-4, 0, Redraw::Once).with_ring());
        assert!(sparse.graph_bytes < 200e6, "{sparse:?}");
        assert!(Needs::of_network(&Ring::new(1_000_000)).graph_bytes < 300e6);
    }

    #[test]
    fn counts_are_written_as_people_write_them() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1e12), "1.0e12");
        assert_eq!([512.0, 2.5e9].map(bytes), ["512.0 bytes", "2.5 GB"]);
    }
}
