//! Everything that is particular to Zenoh: how it is set up, its rules of access, the transport
//! over it, the router, and what it refuses by itself.

#[cfg(feature = "zenoh")]
mod access;
#[cfg(feature = "zenoh")]
mod config;
#[cfg(feature = "zenoh")]
mod connection;
mod refusal_log;
#[cfg(feature = "zenoh")]
mod router;
#[cfg(feature = "zenoh")]
mod session;
#[cfg(feature = "zenoh")]
mod threads;
#[cfg(feature = "zenoh")]
mod transport;

pub(crate) use refusal_log::ZenohRefusals;
#[cfg(feature = "zenoh")]
pub use router::RouterProcess;
#[cfg(feature = "zenoh")]
pub use session::open_session;
#[cfg(feature = "zenoh")]
pub use threads::ONE_THREAD_FOR_LINKS;
#[cfg(feature = "zenoh")]
pub use transport::{ZenohFactory, ZenohTransport};
