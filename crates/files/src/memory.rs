//! Files in memory whose power can be cut, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::system::too_short;
use crate::{Files, Lock};

/// Files in memory. A power cut takes everything that was not synced: the contents of files, and
/// the entries of folders. That is the most that a file system may forget.
#[derive(Debug, Default)]
pub struct MemoryFiles {
    tree: Mutex<Tree>,
    /// The paths that are locked at this moment.
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// Files and folders by number, like the inodes of a file system; number 0 is the root. Folders
/// refer to their entries by number, so that the entries of a renamed folder move with it.
#[derive(Debug)]
struct Tree(Vec<Inode>);

/// A file or a folder without its name, which stands in the folder that contains it.
#[derive(Debug)]
enum Inode {
    Folder(Cached<BTreeMap<OsString, usize>>),
    File(Cached<Vec<u8>>),
}

/// A value as programs see it, and as a power cut leaves it.
#[derive(Debug, Default)]
struct Cached<V> {
    seen: V,
    durable: V,
}

impl<V: Clone> Cached<V> {
    fn sync(&mut self) {
        self.durable.clone_from(&self.seen);
    }

    fn forget(&mut self) {
        self.seen.clone_from(&self.durable);
    }
}

impl MemoryFiles {
    /// Cuts the power and switches it on again: everything that was not synced is lost.
    pub fn cut_power(&self) {
        for inode in &mut self.tree().0 {
            match inode {
                Inode::Folder(entries) => entries.forget(),
                Inode::File(contents) => contents.forget(),
            }
        }
        lock(&self.locked).clear();
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        lock(&self.tree)
    }
}

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Tree {
    fn default() -> Self {
        Self(vec![Inode::Folder(Cached::default())])
    }
}

/// The names on the path from the root to a file or folder.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| matches!(part, Component::Normal(_)).then(|| part.as_os_str().to_owned());
    path.components().filter_map(name).collect()
}

impl Tree {
    /// The number of the file or folder at a path.
    fn find(&self, path: &Path) -> io::Result<usize> {
        let mut number = 0;
        for name in names(path) {
            number = *self.entries(number)?.get(&name).ok_or(ErrorKind::NotFound)?;
        }
        Ok(number)
    }

    /// The number of the folder that contains a path, and the name of the path in it.
    fn place(&self, path: &Path) -> io::Result<(usize, OsString)> {
        let name = names(path).pop().ok_or(ErrorKind::InvalidInput)?;
        Ok((self.find(path.parent().unwrap_or(Path::new("")))?, name))
    }

    fn entries(&self, folder: usize) -> io::Result<&BTreeMap<OsString, usize>> {
        match &self.0[folder] {
            Inode::Folder(entries) => Ok(&entries.seen),
            Inode::File(_) => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn entries_mut(&mut self, folder: usize) -> io::Result<&mut Cached<BTreeMap<OsString, usize>>> {
        match &mut self.0[folder] {
            Inode::Folder(entries) => Ok(entries),
            Inode::File(_) => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn contents(&self, path: &Path) -> io::Result<&Vec<u8>> {
        match &self.0[self.find(path)?] {
            Inode::File(contents) => Ok(&contents.seen),
            Inode::Folder(_) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    /// The contents of a file; it is made if it does not exist.
    fn open(&mut self, path: &Path) -> io::Result<&mut Vec<u8>> {
        let number = match self.find(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (folder, name) = self.place(path)?;
                let number = self.0.len();
                self.entries_mut(folder)?.seen.insert(name, number);
                self.0.push(Inode::File(Cached::default()));
                number
            }
            found => found?,
        };
        match &mut self.0[number] {
            Inode::File(contents) => Ok(&mut contents.seen),
            Inode::Folder(_) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    /// The folder with this name in another one; it is made if it does not exist.
    fn folder_in(&mut self, folder: usize, name: OsString) -> io::Result<usize> {
        if let Some(&known) = self.entries(folder)?.get(&name) {
            return self.entries(known).map(|_| known);
        }
        let made = self.0.len();
        self.0.push(Inode::Folder(Cached::default()));
        let entries = self.entries_mut(folder)?;
        // `create_folder` promises that folders survive a power cut as soon as they are made.
        entries.seen.insert(name.clone(), made);
        entries.durable.insert(name, made);
        Ok(made)
    }

    /// Removes the entry of a file or folder, and returns its number.
    fn take(&mut self, path: &Path) -> io::Result<usize> {
        let (folder, name) = self.place(path)?;
        self.entries_mut(folder)?.seen.remove(&name).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.tree().contents(path).cloned()
    }

    fn read_from(&self, path: &Path, start: u64) -> io::Result<Vec<u8>> {
        self.tree().contents(path).map(|contents| contents.get(start as usize..).unwrap_or_default().to_vec())
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.tree().contents(path).map(|contents| contents.len() as u64)
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        self.tree().find(path).map(|_| None)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let tree = self.tree();
        Ok(tree.entries(tree.find(folder)?)?.keys().map(PathBuf::from).collect())
    }

    fn is_folder(&self, path: &Path) -> bool {
        let tree = self.tree();
        tree.find(path).is_ok_and(|number| matches!(tree.0[number], Inode::Folder(_)))
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        names(folder).into_iter().try_fold(0, |above, name| tree.folder_in(above, name)).map(|_| ())
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        contents.clone_into(self.tree().open(path)?);
        Ok(())
    }

    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        if self.tree().find(path).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.write(path, contents)
    }

    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.tree().open(path)?.extend(contents);
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let found = self.length(path)?;
        if found < length {
            return Err(too_short(found, length));
        }
        self.tree().open(path)?.truncate(length as usize);
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let number = tree.find(path)?;
        match &mut tree.0[number] {
            Inode::Folder(entries) => entries.sync(),
            Inode::File(contents) => contents.sync(),
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (folder, name) = tree.place(to)?;
        if tree.find(to).is_ok_and(|there| matches!(tree.0[there], Inode::Folder(_))) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        tree.entries(folder)?;
        let number = tree.take(from)?;
        tree.entries_mut(folder)?.seen.insert(name, number);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        tree.contents(path)?;
        tree.take(path).map(|_| ())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        if !self.list(folder)?.is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.tree().take(folder).map(|_| ())
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.tree().open(path)?;
        if !lock(&self.locked).insert(path.to_owned()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(Lock::new(PathLock { locked: self.locked.clone(), path: path.to_owned() }))
    }
}

/// A lock on a path, which is released when this is dropped.
struct PathLock {
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
    path: PathBuf,
}

impl Drop for PathLock {
    fn drop(&mut self) {
        lock(&self.locked).remove(&self.path);
    }
}
