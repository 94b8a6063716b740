//! The rows that a run records while it is under way.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::Files;
use serde::{Deserialize, Serialize};

use crate::job::JobError;
use crate::verified::{Checksum, damaged, failure};

/// How much of a file was written when something else was noted about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    bytes: u64,
    checksum: u64,
}

impl Extent {
    /// What a file held when its extent was noted. A file that is missing or shorter, or that
    /// holds something else, is an error.
    pub(crate) fn read(self, files: &dyn Files, path: &Path) -> Result<Vec<u8>, JobError> {
        let mut contents = match files.read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged(path, "it is missing")),
            read => read.map_err(|error| failure(path, error))?,
        };
        if (contents.len() as u64) < self.bytes {
            let (found, written) = (contents.len(), self.bytes);
            return Err(damaged(path, format!("it has {found} bytes, but {written} were written")));
        }
        contents.truncate(self.bytes as usize);
        if Checksum::of(&contents) != self.checksum {
            return Err(damaged(path, "its checksum is wrong"));
        }
        Ok(contents)
    }
}

/// The file of rows of a run.
pub(crate) struct Rows(csv::Writer<Appended>);

impl Rows {
    /// Begins a file, in place of one that may be there.
    pub(crate) fn begin(files: Arc<dyn Files>, path: PathBuf) -> Result<Self, JobError> {
        files.write(&path, b"").map_err(|error| failure(&path, error))?;
        Ok(Self::after(files, path, 0, Checksum::default()))
    }

    /// Goes on with a file after this extent; what follows it is cut off.
    pub(crate) fn resume(files: Arc<dyn Files>, path: PathBuf, extent: Extent) -> Result<Self, JobError> {
        let mut checksum = Checksum::default();
        checksum.add(&extent.read(&*files, &path)?);
        files.truncate(&path, extent.bytes).map_err(|error| failure(&path, error))?;
        Ok(Self::after(files, path, extent.bytes, checksum))
    }

    fn after(files: Arc<dyn Files>, path: PathBuf, bytes: u64, checksum: Checksum) -> Self {
        let out = Appended { files, path, bytes, checksum };
        Self(csv::WriterBuilder::new().has_headers(false).from_writer(out))
    }

    /// Adds a row.
    pub(crate) fn write(&mut self, row: &[String]) -> Result<(), JobError> {
        let written = self.0.write_record(row);
        written.map_err(|error| failure(&self.0.get_ref().path, error.into()))
    }

    /// Returns when all rows so far would survive a power cut, with their extent.
    pub(crate) fn sync(&mut self) -> Result<Extent, JobError> {
        let flushed = self.0.flush();
        let Appended { files, path, bytes, checksum } = self.0.get_ref();
        flushed.and_then(|()| files.sync(path)).map_err(|error| failure(path, error))?;
        Ok(Extent { bytes: *bytes, checksum: checksum.value() })
    }
}

/// A file that is written at its end.
struct Appended {
    files: Arc<dyn Files>,
    path: PathBuf,
    bytes: u64,
    checksum: Checksum,
}

impl Write for Appended {
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
