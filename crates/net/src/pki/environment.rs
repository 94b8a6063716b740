//! What certificates are made with: files and a clock.

use std::sync::Arc;

use fabnet_files::{Files, SystemFiles};

use crate::clock::{Clock, SystemClock};

/// The files and the clock of whoever makes certificates. Tests hand in files that fail and a clock
/// that they move.
#[derive(Clone, Debug)]
pub struct PkiEnvironment {
    /// The file system of certificates and requests, which everybody may read.
    pub shared: Arc<dyn Files>,
    /// The file system of keys, which are for their owner only.
    pub secret: Arc<dyn Files>,
    /// The clock that dates certificates.
    pub clock: Arc<dyn Clock>,
}

impl PkiEnvironment {
    /// The files and the clock of the operating system.
    pub fn system() -> Self {
        Self {
            shared: Arc::new(SystemFiles::SHARED),
            secret: Arc::new(SystemFiles::PRIVATE),
            clock: Arc::new(SystemClock::default()),
        }
    }
}
