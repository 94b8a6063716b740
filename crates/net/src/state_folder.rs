//! The folder in which a node keeps its state.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{Files, Lock};

use crate::config::Manifest;
use crate::disk::{Disk, DiskError};

/// A state folder that this process has for itself until it ends.
#[derive(Debug)]
pub struct StateFolder {
    files: Arc<dyn Files>,
    path: PathBuf,
    run: Manifest,
    _lock: Lock,
}

impl StateFolder {
    /// Opens or makes the folder. A folder that another process uses is refused.
    pub fn open(files: Arc<dyn Files>, path: &Path, run: Manifest) -> Result<Self, DiskError> {
        let failure = |path: &Path, error| DiskError::File { path: path.to_owned(), error };
        files.create_folder(path).map_err(|error| failure(path, error))?;
        let file = path.join("lock");
        let lock = files.lock(&file).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => DiskError::Locked(path.to_owned()),
            _ => failure(&file, error),
        })?;
        Ok(Self { files, path: path.to_owned(), run, _lock: lock })
    }

    /// Its files.
    pub fn files(&self) -> Arc<dyn Files> {
        self.files.clone()
    }

    /// The digest of the run that it is for.
    pub fn run(&self) -> Manifest {
        self.run
    }

    /// The folder of an agent.
    pub fn agent(&self, agent: u32) -> PathBuf {
        self.path.join(agent.to_string())
    }

    /// What an agent whose scalars have so many bytes has written down.
    pub fn disk(&self, agent: u32, scalar: usize) -> Result<Disk, DiskError> {
        Disk::open(self.files.clone(), &self.agent(agent), &self.run, agent, scalar)
    }
}
