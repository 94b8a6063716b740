//! What a node says of itself: as a status, to Prometheus, over HTTP and in its log.

mod client;
mod log;
mod metrics;
mod node_status;
mod server;

pub use client::ask;
pub use log::log_to_stderr;
pub use metrics::RoundTimes;
pub use node_status::{AgentStatus, NodeStatus, SharedStatus};
pub use server::{ServerError, serve};
