//! What a node has written down, so that it survives whatever happens.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fabnet_core::peer::{Incarnation, Record};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// The folder of one agent: `life`, `state`, and the two newest checkpoints.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    scalar: Dtype,
}

/// A file that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}; check the folder's space and rights")]
pub struct DiskError {
    path: PathBuf,
    error: io::Error,
}

impl Disk {
    /// Opens or makes the folder of an agent whose scalars have so many bytes.
    pub fn open(folder: &Path, scalar: usize) -> Result<Self, DiskError> {
        fs::create_dir_all(folder).map_err(|error| DiskError { path: folder.to_owned(), error })?;
        Ok(Self { folder: folder.to_owned(), scalar: if scalar == 4 { Dtype::F32 } else { Dtype::F64 } })
    }

    /// A life that was never used: after the last one, or, if the disk knows of none, after the clock.
    pub fn next_life(&self) -> Result<Incarnation, DiskError> {
        let path = self.folder.join("life");
        let known = match fs::read_to_string(&path) {
            Ok(text) => text.split_whitespace().next().and_then(|counter| counter.parse::<u64>().ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(DiskError { path, error }),
        };
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64);
        let nonce = getrandom::u64().map_err(|error| DiskError { path, error: io::Error::other(error) })?;
        Ok(Incarnation { counter: known.map_or_else(clock, |counter| counter + 1), nonce })
    }

    /// Writes a record down; it is safe when this returns.
    pub fn write(&self, record: &Record) -> Result<(), DiskError> {
        match record {
            Record::Incarnation(life) => {
                self.write_whole("life", format!("{} {:016x}\n", life.counter, life.nonce).as_bytes())
            }
            Record::State(state) => self.write_whole("state", state),
            Record::Checkpoint { round, point } => {
                self.write_whole(&name(*round), &self.checkpoint_file(*round, point)?)?;
                for old in self.checkpoints()?.iter().rev().skip(2) {
                    // One too many does no harm.
                    let _ = fs::remove_file(self.folder.join(name(*old)));
                }
                Ok(())
            }
        }
    }

    /// The state to go on with in the same life, if there is one.
    pub fn state(&self) -> Option<Vec<u8>> {
        fs::read(self.folder.join("state")).ok()
    }

    /// The newest checkpoint that is intact: its round and its point.
    pub fn checkpoint(&self) -> Result<Option<(u64, Vec<u8>)>, DiskError> {
        let intact = |&round: &u64| Some((round, self.read_checkpoint(round)?));
        Ok(self.checkpoints()?.iter().rev().find_map(intact))
    }

    fn read_checkpoint(&self, round: u64) -> Option<Vec<u8>> {
        let bytes = fs::read(self.folder.join(name(round))).ok()?;
        let (_, header) = SafeTensors::read_metadata(&bytes).ok()?;
        let point = SafeTensors::deserialize(&bytes).ok()?.tensor("point").ok()?.data().to_vec();
        let notes = header.metadata().as_ref()?;
        (notes.get("sha256") == Some(&checksum(round, &point)) && notes.get("round") == Some(&round.to_string()))
            .then_some(point)
    }

    fn checkpoint_file(&self, round: u64, point: &[u8]) -> Result<Vec<u8>, DiskError> {
        let scalars = point.len() / if self.scalar == Dtype::F32 { 4 } else { 8 };
        let notes = [("round".to_owned(), round.to_string()), ("sha256".to_owned(), checksum(round, point))];
        let view = TensorView::new(self.scalar, vec![scalars], point);
        view.and_then(|view| serialize([("point", view)], Some(notes.into())))
            .map_err(|error| DiskError { path: self.folder.join(name(round)), error: io::Error::other(error) })
    }

    /// The rounds of all checkpoints, ascending.
    fn checkpoints(&self) -> Result<Vec<u64>, DiskError> {
        let files = fs::read_dir(&self.folder).map_err(|error| DiskError { path: self.folder.clone(), error })?;
        let round = |file: fs::DirEntry| {
            file.file_name().to_str()?.strip_prefix("checkpoint-")?.strip_suffix(".safetensors")?.parse().ok()
        };
        let mut rounds: Vec<u64> = files.flatten().filter_map(round).collect();
        rounds.sort_unstable();
        Ok(rounds)
    }

    /// Whatever happens, there is the old file or the new one.
    fn write_whole(&self, name: &str, contents: &[u8]) -> Result<(), DiskError> {
        let (path, fresh) = (self.folder.join(name), self.folder.join(format!("{name}.new")));
        let write = || -> io::Result<()> {
            let mut file = File::create(&fresh)?;
            file.write_all(contents)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|error| DiskError { path, error })
    }
}

fn name(round: u64) -> String {
    format!("checkpoint-{round}.safetensors")
}

fn checksum(round: u64, point: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(round.to_le_bytes());
    hash.update(point);
    Hex(&hash.finalize()).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_damaged_checkpoint_falls_back_to_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), 8).unwrap();
        assert_eq!(disk.checkpoint().unwrap(), None);
        let point = |round: u64| [round as f64, 0.5].iter().flat_map(|scalar| scalar.to_le_bytes()).collect::<Vec<_>>();
        for round in [5, 50, 500] {
            disk.write(&Record::Checkpoint { round, point: point(round) }).unwrap();
        }
        assert_eq!(disk.checkpoints().unwrap(), [50, 500], "two are kept");
        assert_eq!(disk.checkpoint().unwrap(), Some((500, point(500))));
        let path = folder.path().join(name(500));
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(disk.checkpoint().unwrap(), Some((50, point(50))), "cut off after {length} bytes");
        }
        for bit in 0..8 * whole.len() {
            let mut rotten = whole.clone();
            rotten[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &rotten).unwrap();
            let found = disk.checkpoint().unwrap();
            assert!(found == Some((50, point(50))) || found == Some((500, point(500))), "bit {bit}: {found:?}");
        }
    }

    #[test]
    fn no_life_is_used_twice() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), 8).unwrap();
        let first = disk.next_life().unwrap();
        disk.write(&Record::Incarnation(first)).unwrap();
        let second = disk.next_life().unwrap();
        assert_eq!(second.counter, first.counter + 1);
        assert_ne!(second.nonce, first.nonce);
        fs::remove_file(folder.path().join("life")).unwrap();
        // No process starts twice in a millisecond.
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(disk.next_life().unwrap().counter > first.counter, "a lost disk starts from the clock");
    }
}
