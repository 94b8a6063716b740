//! Where a method runs.

use std::sync::Arc;

use crate::topology::{Complete, Frozen, Topology, Undirected};
use crate::weights::{FromTopology, Weights};
use crate::{Averaged, Problem, Scalar};

/// On which network a method runs, whatever network is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Venue {
    /// On the network that is asked for.
    AsAsked,
    /// On its graph of round 0, for ever.
    Static,
    /// On no network: one agent holds everything.
    Central,
    /// On its links both ways, with Metropolis weights unless the topology brings its own.
    Undirected,
    /// On the links of its graph of round 0, both ways and for ever, weighted in the same way.
    StaticUndirected,
}

impl Venue {
    /// What it makes of a network, in words; nothing for the network that is asked for.
    pub fn about(self) -> Option<&'static str> {
        match self {
            Self::AsAsked => None,
            Self::Static => Some("the graph of round 0, for ever"),
            Self::Central => Some("one agent that holds everything"),
            Self::Undirected => Some("links both ways, with Metropolis weights or those that the topology brings"),
            Self::StaticUndirected => Some("the links of round 0, both ways and for ever, weighted in the same way"),
        }
    }

    /// The network that is used where these are asked for.
    pub fn network(
        self,
        topology: Box<dyn Topology>,
        weights: Box<dyn Weights>,
    ) -> (Arc<dyn Topology>, Arc<dyn Weights>) {
        match self {
            Self::AsAsked => (topology.into(), weights.into()),
            Self::Static => (Arc::new(Frozen::new(topology)), weights.into()),
            Self::Central => (Arc::new(Complete::new(1)), weights.into()),
            Self::Undirected => (Arc::new(Undirected::new(topology)), Arc::new(FromTopology)),
            Self::StaticUndirected => {
                (Arc::new(Undirected::new(Box::new(Frozen::new(topology)))), Arc::new(FromTopology))
            }
        }
    }

    /// The problem as agents have it there; none if it cannot be brought there.
    pub fn problem<T: Scalar>(self, problem: Arc<dyn Problem<T>>) -> Option<Arc<dyn Problem<T>>> {
        if self == Self::Central { Some(Arc::new(Averaged::new(problem)?)) } else { Some(problem) }
    }
}
