//! What a router does.

use zenoh::{Session, Wait};

use crate::config::Config;
use crate::engine::{self, OpenError};

/// Carries messages between members that cannot reach each other.
pub struct Carrier {
    session: Session,
}

impl Carrier {
    /// It does not know the experiment, and so not how long messages can be.
    const LONGEST: usize = 256 << 20;

    /// Carries, from now on.
    pub fn open(config: &Config) -> Result<Self, OpenError> {
        Ok(Self { session: engine::open(config, Self::LONGEST)? })
    }

    /// Carries no more.
    pub fn close(self) -> Result<(), OpenError> {
        Ok(self.session.close().wait()?)
    }
}
