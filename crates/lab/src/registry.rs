//! The entries of the registries that a group of a plan names.

use std::sync::Arc;

use fabnet_core::algorithm::{Method, methods};
use fabnet_core::settings::SettingsReader;
use fabnet_core::topology::topologies;
use fabnet_core::weights::weights;
use fabnet_core::{Scalar, Topology, Weights};

use crate::plan::{Group, Location};
use crate::problems::problems;
use crate::settings::allows_disconnected;

/// Why an entry of a plan cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No entry of the registry has this name.
    #[error("there is no {section} `{kind}`")]
    UnknownKind {
        /// The section of the experiment file.
        section: &'static str,
        /// The name that was asked for.
        kind: String,
    },
    /// The topology cannot be made for these agents.
    #[error("{location}{reason}")]
    Topology {
        /// Where the topology was described.
        location: Box<Location>,
        /// What is wrong with it.
        reason: String,
    },
}

impl RegistryError {
    fn unknown(section: &'static str, kind: &str) -> Self {
        Self::UnknownKind { section, kind: kind.to_owned() }
    }
}

/// The network that a group runs on.
pub(crate) struct GroupNetwork {
    pub(crate) topology: Arc<dyn Topology>,
    pub(crate) weights: Arc<dyn Weights>,
    /// Whether the plan lets a run start although the network is not connected.
    pub(crate) may_be_disconnected: bool,
}

/// Finds the problem that a group names.
pub(crate) fn find_problem<T: Scalar>(group: &Group) -> Result<fabnet_problems::ProblemKind<T>, RegistryError> {
    let kind = problems().into_iter().find(|kind| kind.name == group.problem.kind);
    kind.ok_or_else(|| RegistryError::unknown("problem", &group.problem.kind))
}

/// Finds the method that a group names.
pub(crate) fn find_method<T: Scalar>(group: &Group) -> Result<Method<T>, RegistryError> {
    let method = methods().into_iter().find(|method| method.name == group.algorithm.kind);
    method.ok_or_else(|| RegistryError::unknown("algorithm", &group.algorithm.kind))
}

/// Makes the topology that a group names, and tells whether it may be disconnected.
pub(crate) fn make_topology(group: &Group, seed: u64) -> Result<(Box<dyn Topology>, bool), RegistryError> {
    let kind = topologies().into_iter().find(|kind| kind.name == group.topology.kind);
    let kind = kind.ok_or_else(|| RegistryError::unknown("topology", &group.topology.kind))?;
    let mut keys = SettingsReader::new(&group.topology);
    let locate = || Box::new(group.topology.origin.locate("topology"));
    let topology = kind.read(&mut keys)(group.agents, seed)
        .map_err(|reason| RegistryError::Topology { location: locate(), reason })?;
    Ok((topology, allows_disconnected(&mut keys)))
}

/// Makes the network of a group, as its method changes it: frozen, undirected or centralized.
pub(crate) fn make_network(group: &Group, seed: u64) -> Result<GroupNetwork, RegistryError> {
    let (topology, may_be_disconnected) = make_topology(group, seed)?;
    let kind = weights().into_iter().find(|kind| kind.name == group.weights.kind);
    let kind = kind.ok_or_else(|| RegistryError::unknown("weights", &group.weights.kind))?;
    let place = find_method::<f64>(group)?.venue;
    let (topology, weights) = place.network(topology, (kind.read)(&mut SettingsReader::new(&group.weights)));
    Ok(GroupNetwork { topology, weights, may_be_disconnected })
}
