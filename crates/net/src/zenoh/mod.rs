//! Everything that is particular to Zenoh: how it is set up, its rules of access, its threads, the
//! transport over it, and the router.

mod access;
mod config;
mod connection;
mod router;
mod session;
mod threads;
mod transport;

pub use router::RouterProcess;
pub use session::open_session;
pub use threads::ONE_THREAD_FOR_LINKS;
pub use transport::{ZenohFactory, ZenohTransport};
