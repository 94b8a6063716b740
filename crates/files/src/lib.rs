//! File operations as one small interface that tests can make fail.
//!
//! Whatever a run, a node, a collection of records or a certificate authority does with files goes
//! through [`Files`]. [`SystemFiles`] is the operating system. [`FailingFiles`] ends or fails at a
//! chosen operation, and [`MemoryFiles`] loses at a power cut what was not synced, so that tests
//! can try every point at which a program can be interrupted.
#![warn(clippy::unwrap_used)]

mod failing;
mod frames;
mod label;
mod memory;
mod system;
#[doc(hidden)]
pub mod test_support;

pub use failing::{FailingFiles, Failure};
pub use frames::{Frames, FramesError, Interruption, ReadFrames, frame_file, read_frames, read_frames_after};
pub use label::Label;
pub use memory::MemoryFiles;
pub use system::SystemFiles;

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file system. Every method is one operation that can fail, or be the last one of a process.
pub trait Files: Debug + Send + Sync {
    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Reads a file from this byte on; nothing if it is shorter.
    fn read_from(&self, path: &Path, start: u64) -> io::Result<Vec<u8>>;

    /// The length of a file in bytes.
    fn length(&self, path: &Path) -> io::Result<u64>;

    /// The permissions of a file (0o600, for example), where the system has them.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;

    /// The names of the files and folders directly within a folder, ascending.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether there is a folder at this path.
    fn is_folder(&self, path: &Path) -> bool;

    /// Makes a folder and those above it, as far as they do not exist. They survive a power cut
    /// from then on.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Writes a file from its beginning, replacing what it held.
    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()>;

    /// Makes a file that must not exist yet.
    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()>;

    /// Writes at the end of a file, which is made if it does not exist.
    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()>;

    /// Cuts a file off after this many bytes; a file that is shorter is an error.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;

    /// Returns when the contents of a file, or the entries of a folder, would survive a power cut.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Gives a file or folder another path; a file that was there is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks a file, made if it does not exist, for this process until the lock is dropped.
    /// [`ErrorKind::WouldBlock`] says that another process holds it.
    fn lock(&self, path: &Path) -> io::Result<Lock>;
}

/// A lock on a file. It is released when this is dropped, or when the process ends.
pub struct Lock(#[allow(dead_code, reason = "it is held, not read")] Box<dyn std::any::Any + Send + Sync>);

impl Lock {
    /// Wraps a value that releases the lock when it is dropped.
    pub fn new(held: impl std::any::Any + Send + Sync) -> Self {
        Self(Box::new(held))
    }
}

impl Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// Operations that consist of several operations, each of which may be the last of a process.
impl dyn Files + '_ {
    /// Whether there is a file or a folder at this path.
    pub fn exists(&self, path: &Path) -> bool {
        self.is_folder(path) || self.length(path).is_ok()
    }

    /// Reads a whole file, or nothing if it does not exist.
    pub fn read_if_there(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self.read(path) {
            Ok(contents) => Ok(Some(contents)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a file atomically: after a crash at any point there is the old file or the new one.
    /// When this returns, the new one survives a power cut.
    pub fn write_whole(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.write_parts(path, [Ok(contents)])
    }

    /// Writes like `write_whole`, but part after part, so that the whole need not be in memory.
    pub fn write_parts<P: AsRef<[u8]>>(
        &self,
        path: &Path,
        parts: impl IntoIterator<Item = io::Result<P>>,
    ) -> io::Result<()> {
        let fresh = unfinished(path);
        self.replace(&fresh, path, parts).inspect_err(|_| {
            // On a full disk, half of a file must not take up space. A kill may leave it there.
            let _ = self.remove(&fresh);
        })?;
        self.sync(folder_of(path))
    }

    /// Writes the parts to the file `fresh`, syncs it and renames it to `path`.
    fn replace<P: AsRef<[u8]>>(
        &self,
        fresh: &Path,
        path: &Path,
        parts: impl IntoIterator<Item = io::Result<P>>,
    ) -> io::Result<()> {
        let mut begun = false;
        for part in parts {
            let part = part?;
            if begun {
                self.append(fresh, part.as_ref())?;
            } else {
                self.write(fresh, part.as_ref())?;
            }
            begun = true;
        }
        self.sync(fresh)?;
        self.rename(fresh, path)
    }

    /// Writes at the end of a file all of `contents` or, if that fails, nothing: a part that was
    /// written is cut off again. `length` is the length of the file before.
    pub fn append_whole(&self, path: &Path, length: u64, contents: &[u8]) -> io::Result<()> {
        self.append(path, contents).inspect_err(|_| {
            // If this fails as well, the reader of the file finds a record that is cut off.
            let _ = self.truncate(path, length);
        })
    }

    /// Removes a file if it exists.
    pub fn remove_if_there(&self, path: &Path) -> io::Result<()> {
        match self.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a folder with everything in it, file by file, if it exists.
    pub fn remove_tree(&self, folder: &Path) -> io::Result<()> {
        if !self.is_folder(folder) {
            return Ok(());
        }
        for entry in self.list(folder)? {
            let path = folder.join(entry);
            if self.is_folder(&path) { self.remove_tree(&path)? } else { self.remove(&path)? }
        }
        self.remove_folder(folder)
    }
}

/// The path at which `write_whole` writes a file before it is renamed.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// The folder that contains a path.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
