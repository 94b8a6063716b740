//! The process of a router.

use zenoh::{Session, Wait};

use super::session::open_session;
use crate::config::Config;
use crate::transport::OpenError;

/// Carries messages between members that cannot reach each other.
pub struct RouterProcess {
    session: Session,
}

impl RouterProcess {
    /// The longest message that a router carries, in bytes. It does not know the experiment, and so
    /// not how long messages can be.
    const LONGEST: usize = 256 << 20;

    /// Opens a router, which carries messages from now on.
    pub fn open(config: &Config) -> Result<Self, OpenError> {
        Ok(Self { session: open_session(config, Self::LONGEST)? })
    }

    /// Closes the router.
    pub fn close(self) -> Result<(), OpenError> {
        Ok(self.session.close().wait()?)
    }
}
