//! Files that fail at a chosen operation, for tests.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::{Files, Lock};

/// The failure that happens at the chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The process ends: a write in progress leaves half of its bytes, and every later operation
    /// fails without an effect, so that the program under test does nothing more.
    Kill,
    /// This many operations in succession that take space find the disk full: of what they write,
    /// half of the bytes arrive.
    Full(u64),
}

/// Passes operations on to other files and counts those that change something; the chosen one
/// fails. While the disk stands still, none of these returns.
#[derive(Debug)]
pub struct FailingFiles {
    inner: Arc<dyn Files>,
    failure: Failure,
    at: u64,
    count: AtomicU64,
    /// Whether the disk stands still, and who waits for it to go on.
    stands_still: (Mutex<bool>, Condvar),
}

impl FailingFiles {
    /// Fails at the operation with this number, counted from 0.
    pub fn new(inner: Arc<dyn Files>, failure: Failure, at: u64) -> Self {
        Self { inner, failure, at, count: AtomicU64::new(0), stands_still: Default::default() }
    }

    /// Lets the disk stand still, or go on: operations that change something wait until then.
    pub fn stand_still(&self, still: bool) {
        let (stands_still, changed) = &self.stands_still;
        *stands_still.lock().unwrap_or_else(PoisonError::into_inner) = still;
        changed.notify_all();
    }

    fn wait_while_still(&self) {
        let (stands_still, changed) = &self.stands_still;
        let still = stands_still.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(still, |still| *still).unwrap_or_else(PoisonError::into_inner));
    }

    /// Never fails, and only counts.
    pub fn counting(inner: Arc<dyn Files>) -> Self {
        Self::new(inner, Failure::Kill, u64::MAX)
    }

    /// The number of operations so far that change something.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Carries out an operation that changes something, unless it is to fail; `half` is what is
    /// left of it then.
    fn change<R>(
        &self,
        takes_space: bool,
        whole: impl FnOnce() -> io::Result<R>,
        half: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        self.wait_while_still();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        match self.failure {
            _ if number < self.at => whole(),
            Failure::Full(_) if !takes_space => whole(),
            Failure::Full(many) if number >= self.at.saturating_add(many) => whole(),
            Failure::Full(_) => half().and(Err(ErrorKind::StorageFull.into())),
            Failure::Kill if number == self.at => half().and(Err(killed())),
            Failure::Kill => Err(killed()),
        }
    }

    /// Carries out an operation that changes nothing; after a kill it fails too.
    fn look<R>(&self, look: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        if self.failure == Failure::Kill && self.count() > self.at { Err(killed()) } else { look() }
    }
}

fn killed() -> io::Error {
    io::Error::other("the process was killed")
}

/// The first half of the contents of a write.
fn half(contents: &[u8]) -> &[u8] {
    &contents[..contents.len() / 2]
}

impl Files for FailingFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.look(|| self.inner.read(path))
    }

    fn read_from(&self, path: &Path, start: u64) -> io::Result<Vec<u8>> {
        self.look(|| self.inner.read_from(path, start))
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.look(|| self.inner.length(path))
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        self.look(|| self.inner.mode(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.look(|| self.inner.list(folder))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.inner.is_folder(path)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.change(true, || self.inner.create_folder(folder), || Ok(()))
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.change(true, || self.inner.write(path, contents), || self.inner.write(path, half(contents)))
    }

    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.change(true, || self.inner.write_new(path, contents), || self.inner.write_new(path, half(contents)))
    }

    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.change(true, || self.inner.append(path, contents), || self.inner.append(path, half(contents)))
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.change(false, || self.inner.truncate(path, length), || Ok(()))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change(false, || self.inner.sync(path), || Ok(()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(false, || self.inner.rename(from, to), || Ok(()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(false, || self.inner.remove(path), || Ok(()))
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        self.change(false, || self.inner.remove_folder(folder), || Ok(()))
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.look(|| self.inner.lock(path))
    }
}
