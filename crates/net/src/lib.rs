//! Peers between real processes and machines.
//!
//! A [`Node`] drives the same [`Peer`](fabnet_core::Peer) that the simulator attacks: messages come
//! and go through a [`Transport`], records go to a [`Disk`], time comes from a [`Clock`] as ticks.
//! Nothing here decides anything about mass, members or rounds, and nothing waits for one
//! neighbour.
#![warn(clippy::unwrap_used)]

mod audit;
mod clock;
mod config;
mod greeting;
mod hex;
mod inbox;
mod monitor;
mod node;
mod nonces;
#[cfg(feature = "zenoh")]
mod outbox;
mod pki;
mod refusal_log;
mod refusals;
mod run_digest;
mod state;
mod status;
mod transport;
#[cfg(feature = "zenoh")]
mod zenoh;

#[cfg(feature = "zenoh")]
#[doc(hidden)] // for measurements
pub use crate::zenoh::open_session;
#[cfg(feature = "zenoh")]
pub use crate::zenoh::{ONE_THREAD_FOR_LINKS, RouterProcess, ZenohFactory, ZenohTransport};
pub use audit::{AuditEvent, AuditFault, AuditLog, AuditPlace, AuditReport, verify_audit_log};
pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{Config, ConfigError, ConfigMistake, Limits, Member, RouterSettings, Tls};
pub use greeting::Greeting;
pub use inbox::{Inbox, Input};
pub use monitor::{MissingMembers, NotAdmitted, StartGate};
pub use node::{EndReason, Expulsions, KeptListError, Node, NodeError, NodeParts, Recorder, UnwrittenRecords};
pub use nonces::{Nonces, SystemNonces};
pub use pki::{
    Authority, Certificate, CertificateExpiry, CertificateMistake, CertificateNews, CertificateReport,
    CertificateRequest, CertificateWatch, ExpulsionList, ExpulsionMistake, IdentityMistake, KeyReport, MemberKeys,
    NodeIdentity, PkiEnvironment, PkiError, Validity,
};
pub use refusals::{RefusalReason, Refusals};
pub use run_digest::RunDigest;
pub use state::{
    Disk, DiskError, DiskMode, DiskQueue, StateFolder, StoppedAgent, StoppedRunError, WantedPoint, read_stopped_agent,
};
pub use status::{
    CertificateStatus, LiveRecording, MemberAddress, NodeAnswer, NodeGatherer, NodeLog, NodeStatus, RoundTimes,
    ServerError, SharedStatus, ask, ask_hello, log_to_stderr, serve,
};
pub use transport::{
    LinkFaults, LossyTransport, MemoryNetwork, MemoryTransport, OpenError, OpenedTransport, Reconnect, Transport,
    TransportFactory,
};
