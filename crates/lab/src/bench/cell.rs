//! A cell of the benchmark.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// What is solved, where, and how, each by its name in the design.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchCell {
    /// The name of the problem.
    pub problem: String,
    /// The name of the network.
    pub network: String,
    /// The number of agents.
    pub agents: usize,
    /// The name of the condition.
    pub condition: String,
    /// The name of the method.
    pub method: String,
}

impl BenchCell {
    /// The same cell, of whichever method: the cells of one table have the same.
    pub(super) fn table(&self) -> Self {
        Self { method: String::new(), ..self.clone() }
    }

    /// Where the method runs, in words.
    pub(super) fn place(&self) -> String {
        let Self { problem, network, agents, condition, .. } = self;
        format!("{problem}, {network}, {agents} agents, {condition}")
    }
}

impl Display for BenchCell {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.method, self.place())
    }
}
