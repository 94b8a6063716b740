//! Files in memory, with a power switch.

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
    nodes: Mutex<Nodes>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// Files and folders by number; the first is the folder that all paths begin in. What a folder
/// holds moves with it when it gets another name.
#[derive(Debug)]
struct Nodes(Vec<Node>);

#[derive(Debug)]
enum Node {
    Folder(Kept<BTreeMap<OsString, usize>>),
    File(Kept<Vec<u8>>),
}

/// Something as programs see it, and as a power cut leaves it.
#[derive(Debug, Default)]
struct Kept<V> {
    seen: V,
    durable: V,
}

impl<V: Clone> Kept<V> {
    fn sync(&mut self) {
        self.durable.clone_from(&self.seen);
    }

    fn forget(&mut self) {
        self.seen.clone_from(&self.durable);
    }
}

impl MemoryFiles {
    /// Cuts the power, and switches it on again.
    pub fn cut_power(&self) {
        for node in &mut self.nodes().0 {
            match node {
                Node::Folder(entries) => entries.forget(),
                Node::File(contents) => contents.forget(),
            }
        }
        lock(&self.locked).clear();
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        lock(&self.nodes)
    }
}

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Nodes {
    fn default() -> Self {
        Self(vec![Node::Folder(Kept::default())])
    }
}

/// The names on the way to a file or folder.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| matches!(part, Component::Normal(_)).then(|| part.as_os_str().to_owned());
    path.components().filter_map(name).collect()
}

impl Nodes {
    fn find(&self, path: &Path) -> io::Result<usize> {
        let mut number = 0;
        for name in names(path) {
            number = *self.entries(number)?.get(&name).ok_or(ErrorKind::NotFound)?;
        }
        Ok(number)
    }

    /// The folder that a path is in, and its name there.
    fn place(&self, path: &Path) -> io::Result<(usize, OsString)> {
        let name = names(path).pop().ok_or(ErrorKind::InvalidInput)?;
        Ok((self.find(path.parent().unwrap_or(Path::new("")))?, name))
    }

    fn entries(&self, folder: usize) -> io::Result<&BTreeMap<OsString, usize>> {
        match &self.0[folder] {
            Node::Folder(entries) => Ok(&entries.seen),
            Node::File(_) => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn entries_mut(&mut self, folder: usize) -> io::Result<&mut Kept<BTreeMap<OsString, usize>>> {
        match &mut self.0[folder] {
            Node::Folder(entries) => Ok(entries),
            Node::File(_) => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn contents(&self, path: &Path) -> io::Result<&Vec<u8>> {
        match &self.0[self.find(path)?] {
            Node::File(contents) => Ok(&contents.seen),
            Node::Folder(_) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    /// The contents of a file, which is made if it does not exist.
    fn open(&mut self, path: &Path) -> io::Result<&mut Vec<u8>> {
        let number = match self.find(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (folder, name) = self.place(path)?;
                let number = self.0.len();
                self.entries_mut(folder)?.seen.insert(name, number);
                self.0.push(Node::File(Kept::default()));
                number
            }
            found => found?,
        };
        match &mut self.0[number] {
            Node::File(contents) => Ok(&mut contents.seen),
            Node::Folder(_) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    /// The folder of this name in another one, made if it does not exist.
    fn folder_in(&mut self, folder: usize, name: OsString) -> io::Result<usize> {
        if let Some(&known) = self.entries(folder)?.get(&name) {
            return self.entries(known).map(|_| known);
        }
        let made = self.0.len();
        self.0.push(Node::Folder(Kept::default()));
        let entries = self.entries_mut(folder)?;
        // Folders last from when they are made: that is what `create_folder` promises.
        entries.seen.insert(name.clone(), made);
        entries.durable.insert(name, made);
        Ok(made)
    }

    fn take(&mut self, path: &Path) -> io::Result<usize> {
        let (folder, name) = self.place(path)?;
        self.entries_mut(folder)?.seen.remove(&name).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.nodes().contents(path).cloned()
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        self.nodes().contents(path).map(|contents| contents.len() as u64)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let nodes = self.nodes();
        Ok(nodes.entries(nodes.find(folder)?)?.keys().map(PathBuf::from).collect())
    }

    fn is_folder(&self, path: &Path) -> bool {
        let nodes = self.nodes();
        nodes.find(path).is_ok_and(|number| matches!(nodes.0[number], Node::Folder(_)))
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        names(folder).into_iter().try_fold(0, |above, name| nodes.folder_in(above, name)).map(|_| ())
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        contents.clone_into(self.nodes().open(path)?);
        Ok(())
    }

    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        if self.nodes().find(path).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.write(path, contents)
    }

    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.nodes().open(path)?.extend(contents);
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let found = self.length(path)?;
        if found < length {
            return Err(too_short(found, length));
        }
        self.nodes().open(path)?.truncate(length as usize);
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        let number = nodes.find(path)?;
        match &mut nodes.0[number] {
            Node::Folder(entries) => entries.sync(),
            Node::File(contents) => contents.sync(),
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        let (folder, name) = nodes.place(to)?;
        if nodes.find(to).is_ok_and(|there| matches!(nodes.0[there], Node::Folder(_))) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        nodes.entries(folder)?;
        let number = nodes.take(from)?;
        nodes.entries_mut(folder)?.seen.insert(name, number);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        nodes.contents(path)?;
        nodes.take(path).map(|_| ())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        if !self.list(folder)?.is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.nodes().take(folder).map(|_| ())
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.nodes().open(path)?;
        if !lock(&self.locked).insert(path.to_owned()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(Lock::new(Held { locked: self.locked.clone(), path: path.to_owned() }))
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
