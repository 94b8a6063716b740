//! Files of keys and of what belongs to them: whole or not at all.

use std::io;
use std::path::Path;

use fabnet_files::{Files, folder_of};
use rcgen::KeyPair;

use super::environment::PkiEnvironment;
use super::error::PkiError;

/// Writes a certificate or a request and its key, both or none: neither is of use without the
/// other.
pub(super) fn write_pair(
    environment: &PkiEnvironment,
    (path, contents): (&Path, &str),
    (secret, key): (&Path, &KeyPair),
) -> Result<(), PkiError> {
    write_new(&*environment.secret, secret, &key.serialize_pem())?;
    write_public(&*environment.shared, path, contents).inspect_err(|_| {
        // If this fails as well, the next attempt says that the key exists already.
        let _ = environment.secret.remove(secret);
    })
}

/// Writes a certificate or a request whole or not at all.
pub(super) fn write_public(files: &dyn Files, path: &Path, contents: &str) -> Result<(), PkiError> {
    files.write_whole(path, contents.as_bytes()).map_err(|error| PkiError::File(path.to_owned(), error))
}

/// Writes a key that must not exist yet; it would survive a power cut when this returns.
fn write_new(files: &dyn Files, path: &Path, contents: &str) -> Result<(), PkiError> {
    let lasting = || files.sync(path).and_then(|()| files.sync(folder_of(path)));
    let written = files.write_new(path, contents.as_bytes()).and_then(|()| lasting());
    written.map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            PkiError::Exists(path.to_owned())
        } else {
            // What was written of it is of no use.
            let _ = files.remove(path);
            PkiError::File(path.to_owned(), error)
        }
    })
}
