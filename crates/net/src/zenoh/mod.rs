//! Everything that is particular to Zenoh: how it is set up, its rules of access, the transport
//! over it, the router, and what it refuses by itself.

mod access;
mod config;
mod connection;
mod refusal_log;
mod router;
mod session;
mod threads;
mod transport;

pub(crate) use refusal_log::ZenohRefusals;
pub use router::RouterProcess;
pub use session::open_session;
pub use threads::ONE_THREAD_FOR_LINKS;
pub use transport::{ZenohFactory, ZenohTransport};
