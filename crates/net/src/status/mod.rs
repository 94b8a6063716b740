//! What a node says of itself: as a status, to Prometheus, over HTTP and in its log.

mod client;
mod gatherer;
mod live_recording;
mod log;
mod metrics;
mod node_status;
mod server;

pub use client::{ask, ask_hello};
pub use gatherer::{NodeAnswer, NodeGatherer};
pub use live_recording::LiveRecording;
pub use log::log_to_stderr;
pub use metrics::RoundTimes;
pub use node_status::{CertificateStatus, MemberAddress, NodeLog, NodeStatus, SharedStatus};
pub use server::{ServerError, serve};
