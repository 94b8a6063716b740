//! Files with checksums, which show whether they are complete and which plan they belong to.

use std::hash::Hasher;
use std::path::Path;

use fabnet_files::Files;
use twox_hash::XxHash64;

use super::error::{Damage, FolderError};

/// A checksum that is computed part after part.
#[derive(Clone, Debug, Default)]
pub(super) struct Checksum(XxHash64);

impl Checksum {
    /// The checksum of these bytes.
    pub(super) fn of(bytes: &[u8]) -> u64 {
        XxHash64::oneshot(0, bytes)
    }

    /// Adds further bytes to the checksum.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum of all bytes so far.
    pub(super) fn value(&self) -> u64 {
        self.0.finish()
    }
}

/// Writes a file in place of an earlier one: a line with the checksums of the plan and of the
/// contents, then the contents part by part.
pub(super) fn write(files: &dyn Files, path: &Path, plan: u64, parts: &[&[u8]]) -> Result<(), FolderError> {
    let mut sum = Checksum::default();
    for part in parts {
        sum.add(part);
    }
    let header = header(plan, sum.value());
    let parts = std::iter::once(header.as_bytes()).chain(parts.iter().copied());
    files.write_parts(path, parts.map(Ok)).map_err(|error| FolderError::files(path, error))
}

/// Reads the contents of such a file, if it is there.
pub(super) fn read(files: &dyn Files, path: &Path, plan: u64) -> Result<Option<Vec<u8>>, FolderError> {
    let Some(mut bytes) = files.read_if_there(path).map_err(|error| FolderError::files(path, error))? else {
        return Ok(None);
    };
    let length = header(0, 0).len();
    let contents = bytes.split_off(length.min(bytes.len()));
    let sum = Checksum::of(&contents);
    if bytes == header(plan, sum).as_bytes() {
        return Ok(Some(contents));
    }
    // The last 18 bytes of the header are a space, the checksum of the contents and the line's end.
    let of_another_plan = bytes.len() == length && bytes.ends_with(&header(0, sum).as_bytes()[length - 18..]);
    Err(FolderError::damaged(path, if of_another_plan { Damage::OtherPlan } else { Damage::Checksum }))
}

/// The first line of a file, which always has the same length.
fn header(plan: u64, sum: u64) -> String {
    format!("fabnet 1 {plan:016x} {sum:016x}\n")
}
