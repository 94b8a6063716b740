//! What carries rounds out: a shard that mixes exactly, or agents on links that are not perfect.

use fabnet_core::observe::run;
use fabnet_core::{Scalar, Shard, ShardError, View};
use fabnet_sim::{Crowd, Lossy, Plain};

use crate::joined::Joined;

/// What goes wrong in an experiment, and what agents do about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Faults {
    pub(crate) lossy: Lossy,
    pub(crate) delivery: Delivery,
}

/// How messages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Through ledgers: nothing is lost.
    Ledger,
    /// Once, if they arrive.
    Plain,
}

/// All agents of a run, as its plan lets them exchange.
#[allow(clippy::large_enum_variant, reason = "there is one for each run")]
pub enum Engine<T: Scalar> {
    /// On links that are perfect.
    Shard(Shard<T>),
    /// On links that are not, with ledgers.
    Crowd(Crowd<T>),
    /// On links that are not, without.
    Plain(Plain<T>),
    /// What real nodes have recorded.
    Joined(Joined<T>),
}

impl<T: Scalar> Engine<T> {
    /// What observers see.
    pub fn view(&self) -> View<'_, T> {
        match self {
            Self::Shard(shard) => shard.view(),
            Self::Crowd(crowd) => crowd.view(),
            Self::Plain(plain) => plain.view(),
            Self::Joined(joined) => joined.view(),
        }
    }

    /// Carries out rounds until this one.
    pub fn run_until(&mut self, round: u64) -> Result<(), ShardError> {
        match self {
            Self::Shard(shard) => return run(shard, round, &mut ()).map(|_| ()),
            Self::Crowd(crowd) => (crowd.view().round..round).for_each(|_| crowd.round()),
            Self::Plain(plain) => (plain.view().round..round).for_each(|_| plain.round()),
            Self::Joined(joined) => joined.go_to(round),
        }
        Ok(())
    }

    /// What it needs to go on; none for those that begin again, which is no other result.
    pub(crate) fn save(&self) -> Option<Vec<u8>> {
        if let Self::Shard(shard) = self { Some(shard.save()) } else { None }
    }

    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), ShardError> {
        if let Self::Shard(shard) = self { shard.restore(state) } else { Ok(()) }
    }

    /// When it came to where it is, if that is not what is measured now.
    pub(crate) fn recorded_seconds(&self) -> Option<f64> {
        if let Self::Joined(joined) = self { Some(joined.seconds) } else { None }
    }

    /// Whether the private coordinates of agents are here: those of real nodes stay with them.
    pub(crate) fn has_private(&self) -> bool {
        !matches!(self, Self::Joined(_))
    }

    /// Bytes of state kept per agent.
    pub(crate) fn state_bytes(&self) -> f64 {
        match self {
            Self::Shard(shard) => shard.state_bytes(),
            Self::Crowd(crowd) => crowd.state_bytes(),
            Self::Plain(plain) => plain.state_bytes(),
            // It is elsewhere.
            Self::Joined(_) => 0.0,
        }
    }
}
