//! Whether the others let this node in: the engine does not say.

use std::time::{Duration, Instant};

use crate::engine::answers;

/// Watches whether anybody answers.
#[derive(Debug)]
pub struct Admission {
    since: Instant,
    others: Vec<(String, String)>,
    admitted: bool,
}

/// The others do not let this node in.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// They accept connections, and nothing follows.
    #[error(
        "not admitted: {0} can be reached, but nobody answers. Is this node's certificate of the run's authority and in its own name, \
         and do the others' files name it as a member of the same run?"
    )]
    Silence(String),
    /// They run something else.
    #[error(
        "not admitted: `{node}` runs another manifest ({theirs}, here {ours}): run, plan and members must be the same in all files"
    )]
    Manifest {
        /// Who says so.
        node: String,
        /// What it runs.
        theirs: String,
        /// What we run.
        ours: String,
    },
}

impl Admission {
    /// How long others may be silent.
    const PATIENCE: Duration = Duration::from_secs(8);

    /// A node that knows these others, by name and address.
    pub fn new(others: impl Iterator<Item = (String, String)>) -> Self {
        let others: Vec<_> = others.collect();
        Self { since: Instant::now(), admitted: others.is_empty(), others }
    }

    /// Somebody has answered.
    pub fn heard(&mut self) {
        self.admitted = true;
    }

    /// Whether somebody has, or nobody needs to.
    pub fn admitted(&self) -> bool {
        self.admitted
    }

    /// Looks whether silence means that nobody is there yet, or that nobody wants this node.
    pub fn judge(&mut self) -> Result<(), NotAdmitted> {
        if self.admitted || self.since.elapsed() < Self::PATIENCE {
            return Ok(());
        }
        if let Some((name, address)) = self.others.iter().take(8).find(|(_, address)| answers(address)) {
            return Err(NotAdmitted::Silence(format!("`{name}` at {address}")));
        }
        tracing::info!("waiting for others: nobody of them can be reached yet");
        self.since = Instant::now();
        Ok(())
    }
}
