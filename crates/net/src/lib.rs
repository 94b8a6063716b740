//! Peers between real processes and machines.
//!
//! A [`Node`] drives the same [`Peer`](fabnet_core::Peer) that the simulator attacks: messages come and go through a [`Transport`], records go to a [`Disk`], time comes as ticks. Nothing here decides anything about
//! mass, members or rounds, and nothing waits for one neighbour.
#![warn(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

mod admission;
mod attendance;
mod carrier;
mod checkpoint;
mod client;
mod config;
mod disk;
mod doubles;
mod engine;
mod faulty;
mod hex;
mod inbox;
mod log;
mod metrics;
mod node;
mod outbox;
mod pki;
mod refusals;
mod server;
mod silence;
mod state_folder;
mod status;
mod transport;
mod zenoh_transport;

pub use admission::{Admission, NotAdmitted};
pub use attendance::{Gate, Missing};
pub use carrier::Carrier;
pub use client::ask;
pub use config::{Config, ConfigError, Limits, Manifest, Member, Router, Tls};
pub use disk::{Disk, DiskError};
pub use engine::OpenError;
#[doc(hidden)] // for measurements
pub use engine::open as open_engine;
pub use faulty::Faulty;
pub use inbox::{Inbox, Input};
pub use log::log_to_stderr;
pub use metrics::RoundTimes;
pub use node::{Equipment, Node, NodeError, Recorder, Stop};
pub use pki::{Authority, PkiError};
pub use refusals::{Reason, Refusals};
pub use server::{ServerError, serve};
pub use state_folder::StateFolder;
pub use status::{AgentStatus, NodeStatus, Shared};
pub use transport::Transport;
pub use zenoh_transport::ZenohTransport;
