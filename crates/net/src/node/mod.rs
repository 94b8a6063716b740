//! A node: the agents of one process, driven by messages, ticks and commands.

mod ending;
mod event_loop;
mod hosted_peer;
mod monitoring;
mod peer_driver;
mod recorder;
mod report;
mod round_meter;

pub use ending::{EndReason, NodeError};
pub use event_loop::{Node, NodeParts};
pub use recorder::{Recorder, UnwrittenRecords};
