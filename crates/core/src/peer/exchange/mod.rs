//! The exchange of messages with all other nodes: what was sent, and what waits to be read.

mod edge;
mod inbox;
mod traffic;

pub(crate) use inbox::Unread;
pub(crate) use traffic::Exchange;
