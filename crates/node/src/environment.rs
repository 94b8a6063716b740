//! What a node runs on.

use std::sync::Arc;

use fabnet_files::{Files, SystemFiles};
use fabnet_net::{Clock, Refusals, SharedStatus, SystemClock, TransportFactory, ZenohFactory};

/// Everything outside a node: files, time and network, and the places where it says how it is.
/// Tests hand in files in memory, a clock that they move, and a network within the process.
pub struct Environment {
    /// The file system of its state folder.
    pub files: Arc<dyn Files>,
    /// The clock from which its ticks come.
    pub clock: Arc<dyn Clock>,
    /// The network that it joins.
    pub transport: Box<dyn TransportFactory>,
    /// The place of its newest status.
    pub status: SharedStatus,
    /// The counters of what was refused before a peer saw it.
    pub refusals: Arc<Refusals>,
}

impl Environment {
    /// The files and the clock of the operating system, and Zenoh.
    pub fn system(status: SharedStatus, refusals: Arc<Refusals>) -> Self {
        Self {
            files: Arc::new(SystemFiles::PRIVATE),
            clock: Arc::new(SystemClock::default()),
            transport: Box::new(ZenohFactory),
            status,
            refusals,
        }
    }
}
