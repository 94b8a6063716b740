//! What a node runs on.

use std::sync::Arc;

use fabnet_files::{Files, SystemFiles};
use fabnet_net::{
    Clock, DiskMode, Nonces, Refusals, SharedStatus, SystemClock, SystemNonces, TransportFactory, ZenohFactory,
};

/// Everything outside a node: files, time and network, and the places where it says how it is.
/// Tests hand in files in memory, a clock that they move, and a network within the process.
pub struct Environment {
    /// The file system of its state folder.
    pub files: Arc<dyn Files>,
    /// Who waits for its disk.
    pub disk_mode: DiskMode,
    /// The file system of its certificates, where symbolic links are followed.
    pub certificates: Arc<dyn Files>,
    /// The clock from which its ticks come.
    pub clock: Arc<dyn Clock>,
    /// The source of what tells one of its lives from another.
    pub nonces: Arc<dyn Nonces>,
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
            disk_mode: DiskMode::OnThread,
            certificates: Arc::new(SystemFiles::SHARED),
            clock: Arc::new(SystemClock::default()),
            nonces: Arc::new(SystemNonces),
            transport: Box::new(ZenohFactory),
            status,
            refusals,
        }
    }
}
