//! What carries rounds out: a shard that mixes exactly, agents on faulty links, or a replay.

use fabnet_core::observe::run;
use fabnet_core::{Scalar, Shard, ShardError, View};
use fabnet_sim::{LossyPeers, LossyUnledgered};

use super::replay::Replay;

/// All agents of a run, as its plan lets them exchange messages.
#[allow(clippy::large_enum_variant, reason = "there is one for each run")]
pub enum Simulator<T: Scalar> {
    /// Agents on perfect links.
    Shard(Shard<T>),
    /// Agents on faulty links, with ledgers that make up for every loss.
    LossyPeers(LossyPeers<T>),
    /// Agents on faulty links, without ledgers.
    LossyUnledgered(LossyUnledgered<T>),
    /// Agents where real nodes recorded them.
    Replay(Replay<T>),
}

impl<T: Scalar> Simulator<T> {
    /// The state of all agents, for observers.
    pub fn view(&self) -> View<'_, T> {
        match self {
            Self::Shard(shard) => shard.view(),
            Self::LossyPeers(crowd) => crowd.view(),
            Self::LossyUnledgered(plain) => plain.view(),
            Self::Replay(replay) => replay.view(),
        }
    }

    /// Carries out rounds until this many are done.
    pub fn run_until(&mut self, round: u64) -> Result<(), ShardError> {
        match self {
            Self::Shard(shard) => return run(shard, round, &mut ()).map(|_| ()),
            Self::LossyPeers(crowd) => (crowd.view().round..round).for_each(|_| crowd.round()),
            Self::LossyUnledgered(plain) => (plain.view().round..round).for_each(|_| plain.round()),
            Self::Replay(replay) => replay.go_to(round),
        }
        Ok(())
    }

    /// The state that a run continues from; `None` for simulators that start again, with the same
    /// results.
    pub(crate) fn save(&self) -> Option<Vec<u8>> {
        if let Self::Shard(shard) = self { Some(shard.save()) } else { None }
    }

    /// Continues from a saved state.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), ShardError> {
        if let Self::Shard(shard) = self { shard.restore(state) } else { Ok(()) }
    }

    /// The seconds that real nodes needed for the rounds so far; `None` if the time is measured
    /// now.
    pub(crate) fn recorded_seconds(&self) -> Option<f64> {
        if let Self::Replay(replay) = self { Some(replay.seconds) } else { None }
    }

    /// Whether the private coordinates of agents are here: those of real nodes stay with them.
    pub(crate) fn has_private(&self) -> bool {
        !matches!(self, Self::Replay(_))
    }

    /// Bytes of state that are kept for each agent.
    pub(crate) fn state_bytes(&self) -> f64 {
        match self {
            Self::Shard(shard) => shard.state_bytes(),
            Self::LossyPeers(crowd) => crowd.state_bytes(),
            Self::LossyUnledgered(plain) => plain.state_bytes(),
            // The state is on the nodes.
            Self::Replay(_) => 0.0,
        }
    }
}
