//! The files of the operating system.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Files, Lock, folder_of};

/// The files of the operating system, for results that everybody may read or for private state.
#[derive(Clone, Copy, Debug)]
pub struct SystemFiles {
    private: bool,
}

impl SystemFiles {
    /// Files with the permissions that the user's settings (umask) give them.
    pub const SHARED: Self = Self { private: false };

    /// Files that nobody else may read (mode 0600, folders 0700). A symbolic link in place of a
    /// file is an error, so that nobody can redirect what is written, and so is a pipe.
    pub const PRIVATE: Self = Self { private: true };

    fn open(self, options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        #[cfg(unix)]
        if self.private {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
            refuse_special(path)?;
        }
        options.open(path)
    }
}

/// Returns an error if the path is a symbolic link. State folders are writable by their owner only,
/// so nobody else can put a link there between this look and the operation that follows.
fn refuse_link(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink()) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is a symbolic link, which is not followed here"));
    }
    Ok(())
}

/// Returns an error if what is at the path is a link, a pipe or a device: to open a pipe waits for
/// somebody at its other end.
fn refuse_special(path: &Path) -> io::Result<()> {
    refuse_link(path)?;
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is a pipe or a device, and a file is needed"));
    }
    Ok(())
}

impl Files for SystemFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.private {
            refuse_special(path)?;
        }
        fs::read(path)
    }

    fn read_from(&self, path: &Path, start: u64) -> io::Result<Vec<u8>> {
        let mut file = self.open(OpenOptions::new().read(true), path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut contents = Vec::new();
        file.read_to_end(&mut contents)?;
        Ok(contents)
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        let found = fs::metadata(path)?;
        if found.is_file() { Ok(found.len()) } else { Err(ErrorKind::InvalidInput.into()) }
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        let found = fs::metadata(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            Ok(Some(found.permissions().mode() & 0o7777))
        }
        #[cfg(not(unix))]
        Ok(None)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into())).collect::<io::Result<_>>()?;
        names.sort();
        Ok(names)
    }

    fn is_folder(&self, path: &Path) -> bool {
        // A link to a folder counts as a file, so that removing a tree removes the link only.
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        if self.private {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
            refuse_link(folder)?;
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made: Vec<&Path> = folder.ancestors().take_while(missing).collect();
        builder.create(folder)?;
        #[cfg(unix)]
        if self.private {
            use std::os::unix::fs::PermissionsExt;
            // The folder may have been there before, open to others.
            if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
            }
        }
        made.into_iter().rev().try_for_each(|folder| self.sync(folder_of(folder)))
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.open(OpenOptions::new().create(true).truncate(true).write(true), path)?.write_all(contents)
    }

    fn write_new(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.open(OpenOptions::new().create_new(true).write(true), path)?.write_all(contents)
    }

    fn append(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.open(OpenOptions::new().create(true).append(true), path)?.write_all(contents)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        let file = self.open(OpenOptions::new().write(true), path)?;
        let found = file.metadata()?.len();
        if found < length {
            return Err(too_short(found, length));
        }
        file.set_len(length)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        let file = self.open(OpenOptions::new().create(true).truncate(false).write(true), path)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock::new(file)),
            Err(fs::TryLockError::WouldBlock) => Err(ErrorKind::WouldBlock.into()),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The error of a file that is shorter than what was written to it.
pub(crate) fn too_short(found: u64, expected: u64) -> io::Error {
    let message = format!("it has {found} bytes, but {expected} were written: something has cut it off");
    io::Error::new(ErrorKind::UnexpectedEof, message)
}
