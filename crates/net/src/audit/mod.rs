//! The audit log of a node: who came, went and was refused, in lines of which each carries the hash
//! of the line before.

mod chain;
mod files;
mod log;
mod verify;
mod writer;

pub use chain::AuditEvent;
pub use log::AuditLog;
pub use verify::{AuditFault, AuditPlace, AuditReport, verify_audit_log};
pub(crate) use writer::AuditWriter;
