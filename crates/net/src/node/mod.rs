//! A node: the agents of one process, driven by messages, ticks and commands.

mod audit_trail;
mod certificates;
mod checkpoint_times;
mod ending;
mod event_loop;
mod expelling;
mod expulsions;
mod greeting_schedule;
mod greetings;
mod hosted_peer;
mod monitoring;
mod peer_driver;
mod recorder;
mod report;
mod round_meter;

pub use ending::{EndReason, NodeError};
pub use event_loop::{Node, NodeParts};
pub use expulsions::{Expulsions, KeptListError};
pub use recorder::{Recorder, UnwrittenRecords};
