//! Why a shard cannot be made, or cannot go on.

/// Why a shard cannot be made, or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// The problem and the topology have different numbers of agents.
    #[error(
        "the problem is split among {problem} agents, but the topology connects {topology}: give both the same number"
    )]
    Agents {
        /// The number of agents of the problem.
        problem: usize,
        /// The number of agents of the topology.
        topology: usize,
    },
    /// A range that is empty or reaches beyond the agents.
    #[error("a shard of the agents {start}..{end} does not exist among {agents}")]
    Range {
        /// The first agent of the range.
        start: usize,
        /// One after the last agent of the range.
        end: usize,
        /// The number of agents that there are.
        agents: usize,
    },
    /// A row was received that does not belong here.
    #[error(
        "a row of {found} scalars from agent {agent} is not wanted: rows have {expected}, and come from those of {agents} agents that are not in this shard"
    )]
    Stranger {
        /// The agent that sent it.
        agent: usize,
        /// The number of agents that there are.
        agents: usize,
        /// The number of scalars of a row.
        expected: usize,
        /// The number of scalars that were received.
        found: usize,
    },
    /// A saved state belongs to another shard.
    #[error(
        "a state of {found} bytes does not belong here: this shard's has {expected}, so it was saved by another method, problem or precision"
    )]
    State {
        /// The bytes of this shard's state.
        expected: usize,
        /// The bytes that were given.
        found: usize,
    },
    /// A neighbour's row has not arrived.
    #[error("round {round} needs the row of agent {agent}, which has not arrived: pass it to `receive` first")]
    Missing {
        /// The round to be carried out.
        round: u64,
        /// The agent whose row is missing.
        agent: usize,
    },
}
