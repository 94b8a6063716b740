//! A run's certificates: an authority, and one certificate for each node.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{Files, SystemFiles};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// The authority of a run, in a folder: `ca.pem` for everybody, `ca.key` for whoever admits nodes.
pub struct Authority {
    shared: Arc<dyn Files>,
    secret: Arc<dyn Files>,
    folder: PathBuf,
    key: KeyPair,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// An authority is there already: a new one would shut all nodes out.
    #[error("{0} exists already: choose another folder, or remove it if no node is to be admitted by it again")]
    Exists(PathBuf),
    /// The certificate itself.
    #[error("{0}: {1}")]
    Certificate(PathBuf, rcgen::Error),
}

impl Authority {
    /// Makes an authority.
    pub fn create(folder: &Path) -> Result<Self, PkiError> {
        Self::create_on(Arc::new(SystemFiles::SHARED), Arc::new(SystemFiles::PRIVATE), folder)
    }

    /// Makes an authority, with certificates on some files and keys on others.
    pub fn create_on(shared: Arc<dyn Files>, secret: Arc<dyn Files>, folder: &Path) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        if secret.exists(&path) {
            return Err(PkiError::Exists(path));
        }
        shared.create_folder(folder).map_err(|error| PkiError::File(folder.to_owned(), error))?;
        let wrong = |error| PkiError::Certificate(folder.join("ca.pem"), error);
        let key = KeyPair::generate().map_err(wrong)?;
        let certificate = authority().self_signed(&key).map_err(wrong)?;
        let authority = Self { shared, secret, folder: folder.to_owned(), key };
        authority.write_pair(&folder.join("ca.pem"), &certificate.pem(), &path, &authority.key)?;
        Ok(authority)
    }

    /// Opens the one that is there.
    pub fn open(folder: &Path) -> Result<Self, PkiError> {
        let (shared, secret) = (Arc::new(SystemFiles::SHARED), Arc::new(SystemFiles::PRIVATE));
        let path = folder.join("ca.key");
        let bytes = secret.read(&path).map_err(|error| PkiError::File(path.clone(), error))?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&bytes));
        let key = key.map_err(|error| PkiError::Certificate(path, error))?;
        Ok(Self { shared, secret, folder: folder.to_owned(), key })
    }

    /// Under which hosts others reach a node: those that are given, or where it is on this machine if there are none.
    pub fn hosts(name: &str, given: Vec<String>) -> Vec<String> {
        if given.is_empty() { [name, "localhost", "127.0.0.1"].map(str::to_owned).into() } else { given }
    }

    /// Issues `NAME.pem` and `NAME.key` for a node that others reach under these hosts.
    pub fn issue(&self, name: &str, hosts: &[String]) -> Result<(PathBuf, PathBuf), PkiError> {
        let path = self.folder.join(format!("{name}.pem"));
        let wrong = |error| PkiError::Certificate(path.clone(), error);
        let mut params = CertificateParams::new(hosts).map_err(wrong)?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(wrong)?;
        let issuer = Issuer::new(authority(), &self.key);
        let certificate = params.signed_by(&key, &issuer).map_err(wrong)?;
        let secret = self.folder.join(format!("{name}.key"));
        self.write_pair(&path, &certificate.pem(), &secret, &key)?;
        Ok((path, secret))
    }

    /// Writes a certificate and its key, both or none: neither is of use without the other.
    fn write_pair(&self, path: &Path, certificate: &str, secret: &Path, key: &KeyPair) -> Result<(), PkiError> {
        write_new(&*self.secret, secret, &key.serialize_pem())?;
        write_new(&*self.shared, path, certificate).inspect_err(|_| {
            // If this fails as well, the next attempt says that the key exists already.
            let _ = self.secret.remove(secret);
        })
    }
}

/// What all authorities say of themselves; their keys tell them apart.
fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "fabnet run authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn write_new(files: &dyn Files, path: &Path, contents: &str) -> Result<(), PkiError> {
    let written = files.write_new(path, contents.as_bytes());
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
