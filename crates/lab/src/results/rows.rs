//! The file of rows that a run writes while it is under way.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::Files;
use serde::{Deserialize, Serialize};

use super::error::{Damage, FolderError};
use super::verified::Checksum;

/// The length and the checksum of a file at the time of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    bytes: u64,
    checksum: u64,
}

impl Extent {
    /// Reads what a file held when its extent was noted. A file that is missing or shorter, or that
    /// holds something else, is an error.
    pub(super) fn read(self, files: &dyn Files, path: &Path) -> Result<Vec<u8>, FolderError> {
        let mut contents = match files.read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(FolderError::damaged(path, Damage::Missing));
            }
            read => read.map_err(|error| FolderError::files(path, error))?,
        };
        if (contents.len() as u64) < self.bytes {
            let (found, written) = (contents.len(), self.bytes);
            return Err(FolderError::damaged(path, Damage::Short { found, written }));
        }
        contents.truncate(self.bytes as usize);
        if Checksum::of(&contents) != self.checksum {
            return Err(FolderError::damaged(path, Damage::Checksum));
        }
        Ok(contents)
    }
}

/// The file of rows of a run.
pub(crate) struct Rows(csv::Writer<AppendedFile>);

impl Rows {
    /// Begins a file, in place of one that may be there.
    pub(super) fn begin(files: Arc<dyn Files>, path: PathBuf) -> Result<Self, FolderError> {
        files.write(&path, b"").map_err(|error| FolderError::files(&path, error))?;
        Ok(Self::after(files, path, 0, Checksum::default()))
    }

    /// Continues a file after this extent; what follows it is cut off.
    pub(super) fn resume(files: Arc<dyn Files>, path: PathBuf, extent: Extent) -> Result<Self, FolderError> {
        let mut checksum = Checksum::default();
        checksum.add(&extent.read(&*files, &path)?);
        files.truncate(&path, extent.bytes).map_err(|error| FolderError::files(&path, error))?;
        Ok(Self::after(files, path, extent.bytes, checksum))
    }

    fn after(files: Arc<dyn Files>, path: PathBuf, bytes: u64, checksum: Checksum) -> Self {
        let out = AppendedFile { files, path, bytes, checksum };
        Self(csv::WriterBuilder::new().has_headers(false).from_writer(out))
    }

    /// Adds a row.
    pub(crate) fn write(&mut self, row: &[String]) -> Result<(), FolderError> {
        let written = self.0.write_record(row);
        written.map_err(|error| FolderError::files(&self.0.get_ref().path, error.into()))
    }

    /// Returns the extent of all rows so far, once they would survive a power cut.
    pub(crate) fn sync(&mut self) -> Result<Extent, FolderError> {
        let flushed = self.0.flush();
        let AppendedFile { files, path, bytes, checksum } = self.0.get_ref();
        flushed.and_then(|()| files.sync(path)).map_err(|error| FolderError::files(path, error))?;
        Ok(Extent { bytes: *bytes, checksum: checksum.value() })
    }
}

/// A file that is written at its end, with the checksum of what was written.
struct AppendedFile {
    files: Arc<dyn Files>,
    path: PathBuf,
    bytes: u64,
    checksum: Checksum,
}

impl Write for AppendedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.files.append_whole(&self.path, self.bytes, buffer)?;
        self.bytes += buffer.len() as u64;
        self.checksum.add(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
