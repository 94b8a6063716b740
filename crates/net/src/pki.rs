//! A run's certificates: an authority, and one certificate for each node.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// The authority of a run, in a folder: `ca.pem` for everybody, `ca.key` for whoever admits nodes.
pub struct Authority {
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
        let path = folder.join("ca.key");
        if path.exists() {
            return Err(PkiError::Exists(path));
        }
        fs::create_dir_all(folder).map_err(|error| PkiError::File(folder.to_owned(), error))?;
        let wrong = |error| PkiError::Certificate(folder.join("ca.pem"), error);
        let key = KeyPair::generate().map_err(wrong)?;
        let certificate = authority().self_signed(&key).map_err(wrong)?;
        write(&path, &key.serialize_pem(), 0o600)?;
        write(&folder.join("ca.pem"), &certificate.pem(), 0o644)?;
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// Opens the one that is there.
    pub fn open(folder: &Path) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        let text = fs::read_to_string(&path).map_err(|error| PkiError::File(path.clone(), error))?;
        let key = KeyPair::from_pem(&text).map_err(|error| PkiError::Certificate(path, error))?;
        Ok(Self { folder: folder.to_owned(), key })
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
        write(&secret, &key.serialize_pem(), 0o600)?;
        write(&path, &certificate.pem(), 0o644)?;
        Ok((path, secret))
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

fn write(path: &Path, contents: &str, mode: u32) -> Result<(), PkiError> {
    let mut open = fs::OpenOptions::new();
    open.write(true).create_new(true).mode(mode);
    let file = open.open(path).and_then(|mut file| file.write_all(contents.as_bytes()));
    file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => PkiError::Exists(path.to_owned()),
        _ => PkiError::File(path.to_owned(), error),
    })
}
