//! Helpers for the tests of other crates.

use std::path::{Path, PathBuf};

/// A parent for temporary folders that is in memory where the system has one. Tests that kill
/// processes or sync many files then do not depend on the speed of a disk.
pub fn memory_folder() -> PathBuf {
    let shared_memory = Path::new("/dev/shm");
    let usable = shared_memory.metadata().is_ok_and(|found| found.is_dir() && !found.permissions().readonly());
    if usable { shared_memory.to_owned() } else { std::env::temp_dir() }
}
