//! The engine: agents that mix exactly, in memory, round by round, and what can be seen of them.

pub mod agent;
mod costs;
mod divergence;
mod divergence_guard;
mod dry_run;
mod error_watch;
mod halo;
mod layout;
mod observe;
mod round;
mod rows;
mod run;
mod shard;
mod shard_error;
mod view;

pub use costs::Costs;
pub use divergence::Divergence;
pub use divergence_guard::DivergenceGuard;
#[cfg(test)]
pub(crate) use dry_run::{DryRun, RoundQueries};
pub use error_watch::ErrorWatch;
pub use layout::{RowLayout, SegmentSpan};
pub use observe::{Observer, Stop};
pub use run::run;
pub use shard::Shard;
pub use shard_error::ShardError;
pub use view::{Agents, View};
