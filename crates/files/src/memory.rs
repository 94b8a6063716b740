//! Files in memory, with a power switch.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::system::too_short;
use crate::{Files, Lock, folder_of};

/// Files in memory. A power cut takes everything that was not synced: the contents of files, and
/// the entries of folders. That is the most that a file system may forget.
#[derive(Debug, Default)]
pub struct MemoryFiles(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What programs see.
    entries: BTreeMap<PathBuf, Entry>,
    /// What a power cut leaves.
    durable: BTreeMap<PathBuf, Entry>,
    /// Contents of files by number: as programs see them, and as a power cut leaves them.
    contents: Vec<(Vec<u8>, Vec<u8>)>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    File(usize),
}

impl MemoryFiles {
    /// Cuts the power, and switches it on again.
    pub fn cut_power(&self) {
        let mut state = self.state();
        state.entries = state.durable.clone();
        state.contents.iter_mut().for_each(|(seen, durable)| seen.clone_from(durable));
        lock(&state.locked).clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.entries.get(path) {
            Some(Entry::File(number)) => Ok(*number),
            Some(Entry::Folder) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// The contents of a file that may be made.
    fn open(&mut self, path: &Path) -> io::Result<&mut Vec<u8>> {
        let number = match self.file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folder = folder_of(path);
                if folder != Path::new(".") && self.entries.get(folder) != Some(&Entry::Folder) {
                    return Err(ErrorKind::NotFound.into());
                }
                self.contents.push(Default::default());
                self.entries.insert(path.to_owned(), Entry::File(self.contents.len() - 1));
                self.contents.len() - 1
            }
            found => found?,
        };
        Ok(&mut self.contents[number].0)
    }

    fn take(&mut self, path: &Path) -> io::Result<Entry> {
        self.entries.remove(path).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = self.state();
        Ok(state.contents[state.file(path)?].0.clone())
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        let state = self.state();
        Ok(state.contents[state.file(path)?].0.len() as u64)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.is_folder(folder) {
            return Err(ErrorKind::NotFound.into());
        }
        let state = self.state();
        let within = state.entries.keys().filter(|path| path.parent() == Some(folder));
        Ok(within.filter_map(|path| path.file_name().map(PathBuf::from)).collect())
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.state().entries.get(path) == Some(&Entry::Folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.state();
        for folder in folder.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
            // Folders that are made are taken to last: programs sync what they put into them.
            state.entries.insert(folder.to_owned(), Entry::Folder);
            state.durable.insert(folder.to_owned(), Entry::Folder);
        }
        Ok(())
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        contents.clone_into(self.state().open(path)?);
        Ok(())
    }

    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        if self.length(path).is_ok() { Err(ErrorKind::AlreadyExists.into()) } else { self.write(path, contents) }
    }

    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.state().open(path)?.extend(contents);
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let found = self.length(path)?;
        if found < length {
            return Err(too_short(found, length));
        }
        self.state().open(path)?.truncate(length as usize);
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if let Ok(number) = state.file(path) {
            let (seen, durable) = &mut state.contents[number];
            durable.clone_from(seen);
            return Ok(());
        }
        let State { entries, durable, .. } = &mut *state;
        durable.retain(|known, _| folder_of(known) != path);
        durable.extend(
            entries.iter().filter(|(known, _)| folder_of(known) == path).map(|(known, entry)| (known.clone(), *entry)),
        );
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let entry = state.take(from)?;
        state.entries.insert(to.to_owned(), entry);
        if entry == Entry::Folder {
            let within: Vec<PathBuf> = state.entries.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in within {
                let entry = state.take(&path)?;
                state.entries.insert(to.join(path.strip_prefix(from).unwrap_or(&path)), entry);
            }
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.file(path)?;
        state.take(path).map(|_| ())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        if !self.list(folder)?.is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.state().take(folder).map(|_| ())
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        let locked = self.state().locked.clone();
        if !lock(&locked).insert(path.to_owned()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(Lock::new(Held { locked, path: path.to_owned() }))
    }
}

/// A lock that is held.
struct Held {
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.locked).remove(&self.path);
    }
}
