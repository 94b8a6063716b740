//! The folder in which a node keeps its state, locked for one process.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{Files, Lock};

use super::disk::{Disk, DiskError};
use crate::run_digest::RunDigest;

/// A state folder that this process has for itself until it ends.
#[derive(Debug)]
pub struct StateFolder {
    files: Arc<dyn Files>,
    path: PathBuf,
    run: RunDigest,
    _lock: Lock,
}

impl StateFolder {
    /// Opens or makes the folder. A folder that another process uses is refused.
    pub fn open(files: Arc<dyn Files>, path: &Path, run: RunDigest) -> Result<Self, DiskError> {
        let failure = |path: &Path, error| DiskError::File { path: path.to_owned(), error };
        files.create_folder(path).map_err(|error| failure(path, error))?;
        let file = path.join("lock");
        let lock = files.lock(&file).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => DiskError::Locked(path.to_owned()),
            _ => failure(&file, error),
        })?;
        Ok(Self { files, path: path.to_owned(), run, _lock: lock })
    }

    /// The file system that the folder is on.
    pub fn files(&self) -> Arc<dyn Files> {
        self.files.clone()
    }

    /// The digest of the run that the folder is for.
    pub fn run(&self) -> RunDigest {
        self.run
    }

    /// The folder of an agent, within this one.
    pub fn agent(&self, agent: u32) -> PathBuf {
        self.path.join(agent.to_string())
    }

    /// Opens the files of an agent, whose scalars have `scalar` bytes.
    pub fn disk(&self, agent: u32, scalar: usize) -> Result<Disk, DiskError> {
        Disk::open(self.files.clone(), &self.agent(agent), &self.run, agent, scalar)
    }
}

#[cfg(test)]
mod tests {
    use fabnet_files::{FailingFiles, Failure, MemoryFiles};

    use super::*;

    fn open(files: &Arc<dyn Files>, run: &str) -> Result<StateFolder, DiskError> {
        StateFolder::open(files.clone(), Path::new("/state"), RunDigest::of([run]))
    }

    #[test]
    fn a_folder_is_for_one_process_until_it_ends() {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let first = open(&files, "today").unwrap();
        let second = open(&files, "today").unwrap_err();
        assert!(matches!(&second, DiskError::Locked(path) if path == Path::new("/state")), "{second}");
        assert!(second.to_string().contains("another process uses this state folder"), "{second}");
        drop(first);
        assert!(open(&files, "today").is_ok());
    }

    #[test]
    fn files_of_an_agent_carry_the_digest_of_the_run() {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let record = fabnet_core::peer::Record::State(vec![1, 2, 3]);
        open(&files, "today").unwrap().disk(4, 8).unwrap().write(&record).unwrap();
        assert_eq!(open(&files, "today").unwrap().disk(4, 8).unwrap().state().unwrap(), Some(vec![1, 2, 3]));
        let refused = open(&files, "tomorrow").unwrap().disk(4, 8).unwrap_err();
        assert!(
            matches!(&refused, DiskError::OtherRun { path, .. } if path == Path::new("/state/4/state")),
            "{refused}"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let inner = Arc::new(MemoryFiles::default());
        let files: Arc<dyn Files> = Arc::new(FailingFiles::new(inner, Failure::Full(1), 0));
        let error = open(&files, "today").unwrap_err().to_string();
        assert!(error.starts_with("/state: ") && error.contains("space and rights"), "{error}");
    }
}
