//! What the node of an agent is to do in a real run.

use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{NeighbourSource, PeerConfig, Policy, Unit};
use fabnet_core::topology::Complete;
use fabnet_core::{Scalar, Topology};

use super::setup::Setup;
use crate::plan::Group;
use crate::registry::make_network;
use crate::settings::NetworkSettings;

impl<T: Scalar> Setup<T> {
    /// What the node of an agent is to do in a real run of this number, with a checkpoint after
    /// every `every` rounds.
    pub fn task(&self, node: u32, run: u64, every: u64) -> PeerConfig<T> {
        PeerConfig {
            algorithm: self.algorithm.clone(),
            problem: self.problem.clone(),
            seed: self.seed(),
            node,
            run,
            unit: Unit::default(),
            words: self.words(),
            schedule: self.schedule(),
            weights: self.weights.clone(),
            policy: self.policy(every),
        }
    }

    /// How long peers wait for each other.
    fn policy(&self, checkpoint_every: u64) -> Policy {
        let NetworkSettings { pace, tick, exact, .. } = self.network();
        let default = Policy::new(pace, self.group().agents);
        Policy {
            evict_after: default.evict_after.max(ticks(6.0, tick)),
            unreachable_after: default.unreachable_after.max(ticks(4.0, tick)),
            close_after: default.close_after.max(ticks(12.0, tick)),
            checkpoint_every,
            exact,
            rounds: self.group().rounds,
            ..default
        }
    }

    /// The neighbours of each round: as the contact plan says, or drawn among the living.
    fn schedule(&self) -> NeighbourSource {
        if self.group().topology.kind == "contact-plan" {
            return NeighbourSource::Contacts(self.topology.clone());
        }
        let (group, seed) = (self.group().clone(), self.seed());
        NeighbourSource::Living(Arc::new(move |agents| topology_among(&group, seed, agents)))
    }
}

/// The topology of a group among the agents that are left. Where it means nothing for so few, all
/// of them hear each other.
fn topology_among(group: &Group, seed: u64, agents: usize) -> Arc<dyn Topology> {
    let network = make_network(&Group { agents, ..group.clone() }, seed);
    network.map_or_else(|_| Arc::new(Complete::new(agents)) as _, |network| network.topology)
}

/// A number of seconds in ticks. However short ticks are, processes that wait for a core are silent
/// for seconds, so limits in ticks are never shorter than that.
fn ticks(seconds: f64, tick: Duration) -> u64 {
    (seconds / tick.as_secs_f64()) as u64
}
