//! The exchange of messages with all other nodes: what was sent, and what waits to be read.

mod edge;
mod inbox;
mod open_edges;
mod reference;
mod traffic;
mod unapplied;

pub(crate) use inbox::Unread;
pub(crate) use reference::{Reading, Reference};
pub(crate) use traffic::Exchange;
pub(crate) use unapplied::PulledBase;
