//! Why a run cannot be set up.

use fabnet_core::ShardError;
use fabnet_core::algorithm::StepsError;
use fabnet_core::network::Reach;

use super::custom_parts::AlgorithmMisfit;
use crate::estimate::{MemoryShortage, TooManyRuns};
use crate::plan::Group;
use crate::registry::RegistryError;

/// Why a run cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The plan names something that does not exist, or that cannot be made.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The problem cannot be made with its settings.
    #[error("{reason}")]
    Problem {
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A centralized method cannot solve a problem with private coordinates.
    #[error(
        "`{problem}` has private coordinates, which nobody else can hold: take `fab` or `dfab` instead of `{algorithm}`"
    )]
    PrivateCoordinates {
        /// The kind of the problem.
        problem: String,
        /// The name of the method.
        algorithm: String,
    },
    /// A bilevel method cannot solve a problem with one level.
    #[error("`{algorithm}` solves bilevel problems, but `{problem}` has one level: take `push-pull` or `push-diging`")]
    SingleLevel {
        /// The name of the method.
        algorithm: String,
        /// The kind of the problem.
        problem: String,
    },
    /// The method needs step sizes, and the plan gives none.
    #[error("`{algorithm}` has no automatic step sizes: give one for each of its variables")]
    StepSizes {
        /// The name of the method.
        algorithm: String,
    },
    /// The method does not fit the problem.
    #[error(transparent)]
    Algorithm(#[from] StepsError),
    /// The algorithm of a program does not fit the problem.
    #[error(transparent)]
    CustomAlgorithm(#[from] AlgorithmMisfit),
    /// The simulator refused the run.
    #[error(transparent)]
    Simulator(#[from] ShardError),
    /// The problem has no data that could be divided among agents.
    #[error("`{problem}` has no data that could be divided")]
    NoData {
        /// The kind of the problem.
        problem: String,
    },
    /// The data of the problem could not be divided among agents.
    #[error("{reason}")]
    Division {
        /// What went wrong.
        reason: String,
    },
    /// The checksum of the problem's data could not be computed.
    #[error("{reason}")]
    Checksum {
        /// What went wrong.
        reason: String,
    },
    /// The data of an agent is not on this machine.
    #[error("{reason}")]
    MissingData {
        /// Which data is missing, and how to get it.
        reason: String,
    },
    /// The network is not connected.
    #[error("{0}. Add links between them, or set topology.allow_disconnected = true to go ahead all the same")]
    Disconnected(Disconnected),
    /// Automatic step sizes need to know how fast information spreads, and it does not reach all.
    #[error(
        "automatic step sizes need information to reach all agents, and it does not ({agents} agents on `{topology}`, \
         which are not connected): give steps = {{ … }}"
    )]
    UnknownSpread {
        /// The number of agents.
        agents: usize,
        /// The kind of the topology.
        topology: String,
    },
    /// The run needs more memory than this machine has.
    #[error(transparent)]
    Memory(#[from] MemoryShortage),
    /// All runs at a time need more memory than is available.
    #[error(transparent)]
    TooManyRuns(#[from] TooManyRuns),
    /// One group of several cannot be set up.
    #[error("`{label}`: {error}")]
    InGroup {
        /// The label of the group.
        label: String,
        /// Why the group cannot be set up.
        error: Box<SetupError>,
    },
}

impl SetupError {
    /// Whether the file asks for something that does not exist or does not fit together. Otherwise
    /// the file is valid, but what it asks for cannot work here.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Registry(_)
            | Self::Problem { .. }
            | Self::PrivateCoordinates { .. }
            | Self::SingleLevel { .. }
            | Self::StepSizes { .. }
            | Self::Algorithm(_)
            | Self::CustomAlgorithm(_)
            | Self::Simulator(_)
            | Self::NoData { .. } => true,
            Self::Division { .. }
            | Self::Checksum { .. }
            | Self::MissingData { .. }
            | Self::Disconnected(_)
            | Self::UnknownSpread { .. }
            | Self::Memory(_)
            | Self::TooManyRuns(_) => false,
            Self::InGroup { error, .. } => error.is_invalid(),
        }
    }

    /// The same error, with the group that it occurred in.
    pub(super) fn in_group(self, label: &str) -> Self {
        Self::InGroup { label: label.to_owned(), error: Box::new(self) }
    }
}

/// The graphs of all rounds together do not connect the agents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {agents} agents on `{topology}` are never jointly strongly connected, which leaves {components}. Information \
     from some agents never reaches others, and the answer would be wrong"
)]
pub struct Disconnected {
    /// The number of agents.
    pub agents: usize,
    /// The kind of the topology.
    pub topology: String,
    /// The strongly connected components, in words.
    pub components: String,
}

impl Disconnected {
    /// The error for the network of a group.
    pub(crate) fn new(group: &Group, reach: &Reach<'_>) -> Self {
        let (agents, topology) = (group.agents, group.topology.kind.clone());
        Self { agents, topology, components: reach.components().to_string() }
    }
}
