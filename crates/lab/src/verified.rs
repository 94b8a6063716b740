//! Files that show by themselves whether they are whole and which plan they belong to.

use std::hash::Hasher;
use std::io;
use std::path::Path;

use fabnet_files::Files;
use twox_hash::XxHash64;

use crate::job::JobError;

/// A checksum that is formed part after part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checksum(XxHash64);

impl Checksum {
    /// The checksum of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        XxHash64::oneshot(0, bytes)
    }

    /// Takes further bytes into account.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum of all bytes so far.
    pub(crate) fn value(&self) -> u64 {
        self.0.finish()
    }
}

/// Writes a file in place of an earlier one: a line with the checksums of the plan and of all that
/// follows, then the parts.
pub(crate) fn write(files: &dyn Files, path: &Path, plan: u64, parts: &[&[u8]]) -> Result<(), JobError> {
    let mut sum = Checksum::default();
    for part in parts {
        sum.add(part);
    }
    let header = header(plan, sum.value());
    let parts = std::iter::once(header.as_bytes()).chain(parts.iter().copied());
    files.write_parts(path, parts.map(Ok)).map_err(|error| failure(path, error))
}

/// Reads such a file, if it is there: what follows its first line.
pub(crate) fn read(files: &dyn Files, path: &Path, plan: u64) -> Result<Option<Vec<u8>>, JobError> {
    let Some(mut bytes) = files.read_if_there(path).map_err(|error| failure(path, error))? else { return Ok(None) };
    let length = header(0, 0).len();
    let contents = bytes.split_off(length.min(bytes.len()));
    let sum = Checksum::of(&contents);
    if bytes == header(plan, sum).as_bytes() {
        return Ok(Some(contents));
    }
    let of_another_plan = bytes.len() == length && bytes.ends_with(&header(0, sum).as_bytes()[length - 18..]);
    let reason = if of_another_plan { "it belongs to another plan.toml" } else { "its checksum is wrong" };
    Err(damaged(path, reason))
}

/// The first line, always of the same length.
fn header(plan: u64, sum: u64) -> String {
    format!("fabnet 1 {plan:016x} {sum:016x}\n")
}

/// A file operation that the system refused.
pub(crate) fn failure(path: &Path, error: io::Error) -> JobError {
    JobError::Files { path: path.to_owned(), error }
}

/// A file that is not as it was written.
pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> JobError {
    JobError::Damaged { path: path.to_owned(), reason: reason.into() }
}
