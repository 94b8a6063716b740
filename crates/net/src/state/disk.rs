//! The files of one agent.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{Incarnation, Record};
use fabnet_files::{Files, FramesError, Label, frame_file, read_frames};

use super::checkpoint::{CheckpointContents, CheckpointFile};
use crate::nonces::Nonces;
use crate::run_digest::RunDigest;

/// The folder of one agent: `life`, `state`, and the two newest checkpoints. Every file carries the
/// digest of its run.
#[derive(Debug)]
pub struct Disk {
    files: Arc<dyn Files>,
    folder: PathBuf,
    agent: u32,
    /// The digest of the run, as text.
    run: String,
    /// The bytes of a scalar: 4 or 8.
    scalar: usize,
}

/// Why a state folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// A file cannot be written or read.
    #[error("{}: {error}; check the folder's space and rights", path.display())]
    File {
        /// The file that is meant.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file was written in another run.
    #[error(
        "{} belongs to run {theirs}, this one is {ours}: give this node a state folder of its own (`state` in its \
         file), or move the old one away; to go on from it, set `continues` to its new place", path.display()
    )]
    OtherRun {
        /// The file that is meant.
        path: PathBuf,
        /// The digest that it carries.
        theirs: String,
        /// The digest of this run.
        ours: String,
    },
    /// A file was written before files said to which run they belong.
    #[error(
        "{} does not say to which run it belongs, as files of earlier versions: give this node a state folder of its \
         own (`state` in its file), or move the old one away", .0.display()
    )]
    Unmarked(PathBuf),
    /// Another process uses the folder.
    #[error(
        "{}: another process uses this state folder: stop it, or give this node a folder of its own", .0.display()
    )]
    Locked(PathBuf),
    /// There is no incarnation after the last one.
    #[error("{}: there is no number above {counter} for another life: move the folder away", path.display())]
    Lives {
        /// The file that is meant.
        path: PathBuf,
        /// The number of the last incarnation.
        counter: u64,
    },
}

impl Disk {
    /// Others accept only incarnations with numbers below this.
    pub(super) const LAST_LIFE: u64 = 1 << 61;
    /// The file with the present incarnation.
    const LIFE: &str = "life";
    /// More bytes than that file ever has: a longer one is damaged, and is not read into memory.
    const LONGEST_LIFE: u64 = 4096;

    /// Opens or makes the folder of an agent, whose scalars have `scalar` bytes. A folder with a
    /// file of another run is refused.
    pub fn open(
        files: Arc<dyn Files>,
        folder: &Path,
        run: &RunDigest,
        agent: u32,
        scalar: usize,
    ) -> Result<Self, DiskError> {
        files.create_folder(folder).map_err(|error| DiskError::File { path: folder.to_owned(), error })?;
        let disk = Self { files, folder: folder.to_owned(), agent, run: run.to_string(), scalar };
        disk.read_life()?;
        disk.read_labelled("state", "state 1")?;
        disk.checkpoint()?;
        Ok(disk)
    }

    /// An incarnation that was never used: the number after the last one or, if the disk knows of
    /// none, the milliseconds of the wall clock, which are larger than the number of any earlier
    /// start. Its nonce tells it from another one of the same number, which a folder from a backup
    /// may begin.
    pub fn next_life(&self, unix_time: Duration, nonces: &dyn Nonces) -> Result<Incarnation, DiskError> {
        let path = self.folder.join(Self::LIFE);
        let known = self.read_life()?;
        let known = known.and_then(|record| Some(u64::from_le_bytes(*record.first_chunk()?)));
        let counter = match known {
            Some(counter) => counter.checked_add(1).filter(|next| *next < Self::LAST_LIFE),
            None => Some(unix_time.as_millis() as u64),
        };
        let counter = counter.ok_or(DiskError::Lives { path: path.clone(), counter: known.unwrap_or_default() })?;
        let nonce = nonces.next().map_err(|error| DiskError::File { path, error })?;
        Ok(Incarnation { counter, nonce })
    }

    /// Writes a record; it would survive a power cut when this returns.
    pub fn write(&self, record: &Record) -> Result<(), DiskError> {
        match record {
            Record::Incarnation(life) => {
                let record = [life.counter.to_le_bytes(), life.nonce.to_le_bytes()].concat();
                self.write_whole(Self::LIFE, &frame_file(&self.label("life 1"), &[&record]))
            }
            Record::State(state) => self.write_whole("state", &frame_file(&self.label("state 1"), &[state])),
            Record::Checkpoint { round, point } => self.write_checkpoint(*round, point),
        }
    }

    /// Writes a checkpoint and removes all but the two newest: if the last one is damaged, there is
    /// one more.
    fn write_checkpoint(&self, round: u64, point: &[u8]) -> Result<(), DiskError> {
        let path = CheckpointFile::name(round);
        let bytes = self.checkpoint_file(round).write(point);
        self.write_whole(&path, &bytes.map_err(|error| self.failure(&path, io::Error::other(error)))?)?;
        for old in self.checkpoints()?.iter().rev().skip(2) {
            // One too many does no harm.
            let _ = self.files.remove(&self.folder.join(CheckpointFile::name(*old)));
        }
        Ok(())
    }

    /// The state to continue with in the same incarnation, if there is one that is intact.
    pub fn state(&self) -> Result<Option<Vec<u8>>, DiskError> {
        self.read_labelled("state", "state 1")
    }

    /// The round and the point of the newest checkpoint that is intact.
    pub fn checkpoint(&self) -> Result<Option<(u64, Vec<u8>)>, DiskError> {
        for round in self.checkpoints()?.into_iter().rev() {
            let path = self.folder.join(CheckpointFile::name(round));
            let bytes = self.files.read(&path).map_err(|error| DiskError::File { path: path.clone(), error })?;
            match self.checkpoint_file(round).read(&bytes) {
                CheckpointContents::Intact(point) => return Ok(Some((round, point))),
                CheckpointContents::Damaged => {
                    tracing::warn!(path = %path.display(), "a damaged checkpoint is not used");
                }
                CheckpointContents::Unmarked => return Err(DiskError::Unmarked(path)),
                CheckpointContents::OtherRun(theirs) => {
                    return Err(DiskError::OtherRun { path, theirs, ours: self.run.clone() });
                }
            }
        }
        Ok(None)
    }

    /// The rounds of all checkpoints, ascending.
    pub(super) fn checkpoints(&self) -> Result<Vec<u64>, DiskError> {
        let rounds = CheckpointFile::rounds_in(&*self.files, &self.folder);
        rounds.map_err(|error| DiskError::File { path: self.folder.clone(), error })
    }

    /// The record of the present incarnation, if the file is there and intact.
    fn read_life(&self) -> Result<Option<Vec<u8>>, DiskError> {
        let path = self.folder.join(Self::LIFE);
        if self.files.length(&path).is_ok_and(|length| length > Self::LONGEST_LIFE) {
            warn_of_damage(&path);
            return Ok(None);
        }
        self.read_labelled(Self::LIFE, "life 1")
    }

    /// The record of a file with a label, if the file is there and intact. A file of another run is
    /// an error.
    fn read_labelled(&self, name: &str, kind: &str) -> Result<Option<Vec<u8>>, DiskError> {
        let path = self.folder.join(name);
        let read = match read_frames(&*self.files, &path) {
            Ok(None) => return Ok(None),
            Ok(Some(read)) => read,
            Err(FramesError::File { path, error }) => return Err(DiskError::File { path, error }),
            Err(_) if self.is_of_earlier_version(&path) => return Err(DiskError::Unmarked(path)),
            Err(_) => {
                warn_of_damage(&path);
                return Ok(None);
            }
        };
        if let Some(found) = read.label.as_ref().filter(|found| **found != self.label(kind)) {
            let (theirs, ours) = (found.to_string(), self.label(kind).to_string());
            return Err(DiskError::OtherRun { path, theirs, ours });
        }
        let record = read.records().next().map(<[u8]>::to_vec);
        if record.is_none() {
            warn_of_damage(&path);
        }
        Ok(record)
    }

    /// Whether this is `life` as earlier versions wrote it, without a digest: two numbers as text.
    fn is_of_earlier_version(&self, path: &Path) -> bool {
        let text = self.files.read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.is_some_and(|text| {
            let mut words = text.split_whitespace();
            let numbers = (words.next().map(str::parse::<u64>), words.next().map(|word| u64::from_str_radix(word, 16)));
            matches!(numbers, (Some(Ok(_)), Some(Ok(_))))
        })
    }

    fn checkpoint_file(&self, round: u64) -> CheckpointFile<'_> {
        CheckpointFile { round, agent: self.agent, run: &self.run, scalar: self.scalar }
    }

    fn label(&self, kind: &str) -> Label {
        Label::new(kind, &self.run, self.agent)
    }

    fn write_whole(&self, name: &str, contents: &[u8]) -> Result<(), DiskError> {
        self.files.write_whole(&self.folder.join(name), contents).map_err(|error| self.failure(name, error))
    }

    fn failure(&self, name: &str, error: io::Error) -> DiskError {
        DiskError::File { path: self.folder.join(name), error }
    }
}

fn warn_of_damage(path: &Path) {
    tracing::warn!(path = %path.display(), "a damaged file is not used: this is a new life");
}
