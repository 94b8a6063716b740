//! A run's certificates: an authority, and one certificate for each node.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{Files, SystemFiles, folder_of};

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
#[non_exhaustive]
pub enum PkiError {
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// An authority is there already: a new one would shut all nodes out.
    #[error("{0} exists already: choose another folder, or remove it if no node is to be admitted by it again")]
    Exists(PathBuf),
    /// A certificate or a key cannot be made or understood.
    #[error("{0}: {1}")]
    Certificate(PathBuf, rcgen::Error),
}

impl Authority {
    /// Makes an authority in a folder.
    pub fn create(folder: &Path) -> Result<Self, PkiError> {
        Self::create_on(Arc::new(SystemFiles::SHARED), Arc::new(SystemFiles::PRIVATE), folder)
    }

    /// Makes an authority whose certificates are on one file system and whose keys are on another.
    pub fn create_on(shared: Arc<dyn Files>, secret: Arc<dyn Files>, folder: &Path) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        if secret.exists(&path) {
            return Err(PkiError::Exists(path));
        }
        shared.create_folder(folder).map_err(|error| PkiError::File(folder.to_owned(), error))?;
        let key = KeyPair::generate().map_err(|error| PkiError::Certificate(path.clone(), error))?;
        let authority = Self { shared, secret, folder: folder.to_owned(), key };
        let certificate = authority.certificate()?;
        authority.write_pair(&folder.join("ca.pem"), &certificate, &path, &authority.key)?;
        Ok(authority)
    }

    /// Opens the authority of a folder.
    pub fn open(folder: &Path) -> Result<Self, PkiError> {
        Self::open_on(Arc::new(SystemFiles::SHARED), Arc::new(SystemFiles::PRIVATE), folder)
    }

    /// Opens an authority whose certificates are on one file system and whose keys are on another.
    pub fn open_on(shared: Arc<dyn Files>, secret: Arc<dyn Files>, folder: &Path) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        let bytes = secret.read(&path).map_err(|error| PkiError::File(path.clone(), error))?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&bytes));
        let key = key.map_err(|error| PkiError::Certificate(path, error))?;
        let authority = Self { shared, secret, folder: folder.to_owned(), key };
        // Whoever made the authority may have been killed in between. The certificate follows from
        // the key.
        let certificate = folder.join("ca.pem");
        if !authority.shared.exists(&certificate) {
            write_certificate(&*authority.shared, &certificate, &authority.certificate()?)?;
        }
        Ok(authority)
    }

    /// The certificate of the authority itself.
    fn certificate(&self) -> Result<String, PkiError> {
        let certificate = authority().self_signed(&self.key);
        certificate.map(|it| it.pem()).map_err(|error| PkiError::Certificate(self.folder.join("ca.pem"), error))
    }

    /// The hosts under which others reach a node: those that are given or, if there are none, the
    /// names of this machine.
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
        if self.shared.exists(path) {
            return Err(PkiError::Exists(path.to_owned()));
        }
        write_new(&*self.secret, secret, &key.serialize_pem())?;
        write_certificate(&*self.shared, path, certificate).inspect_err(|_| {
            // If this fails as well, the next attempt says that the key exists already.
            let _ = self.secret.remove(secret);
        })
    }
}

/// The parameters of an authority's certificate. All authorities have the same; their keys tell
/// them apart.
fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "fabnet run authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// Writes a certificate whole or not at all.
fn write_certificate(files: &dyn Files, path: &Path, certificate: &str) -> Result<(), PkiError> {
    files.write_whole(path, certificate.as_bytes()).map_err(|error| PkiError::File(path.to_owned(), error))
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

#[cfg(test)]
mod tests {
    use fabnet_files::{FailingFiles, Failure, MemoryFiles};

    use super::*;

    const FOLDER: &str = "/pki";

    /// An authority and one certificate, as `fabnet pki` makes them.
    fn set_up(files: &Arc<dyn Files>) -> Result<(), PkiError> {
        let authority = match Authority::open_on(files.clone(), files.clone(), Path::new(FOLDER)) {
            Err(PkiError::File(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                Authority::create_on(files.clone(), files.clone(), Path::new(FOLDER))?
            }
            authority => authority?,
        };
        authority.issue("alpha", &["localhost".to_owned()]).map(|_| ())
    }

    /// Whether a key is there, with the certificate that was made for it.
    fn is_whole(files: &dyn Files, name: &str) -> bool {
        let read = |kind: &str| files.read(&Path::new(FOLDER).join(format!("{name}.{kind}"))).ok();
        let (Some(key), Some(certificate)) = (read("key"), read("pem")) else { return false };
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&key));
        let (Ok(key), Ok(certificate)) = (key, pem::parse(certificate)) else { return false };
        let public = key.public_key_raw();
        certificate.contents().windows(public.len()).any(|part| part == public)
    }

    #[test]
    fn whatever_fails_a_pair_is_whole_or_what_is_in_the_way_is_named() {
        let counting = Arc::new(FailingFiles::counting(Arc::new(MemoryFiles::default())));
        let files: Arc<dyn Files> = counting.clone();
        set_up(&files).unwrap();
        let (points, mut whole, mut named) = (counting.count(), 0, 0);
        for failure in [Failure::Kill, Failure::Full(1)] {
            for at in 0..points {
                let inner = Arc::new(MemoryFiles::default());
                let failing: Arc<dyn Files> = Arc::new(FailingFiles::new(inner.clone(), failure, at));
                let _ = set_up(&failing);
                if failure == Failure::Kill {
                    inner.cut_power();
                }
                let files: Arc<dyn Files> = inner;
                match set_up(&files) {
                    Ok(()) => {
                        assert!(is_whole(&*files, "ca") && is_whole(&*files, "alpha"), "{failure:?} at {at}");
                        whole += 1;
                    }
                    Err(error) => {
                        assert!(error.to_string().contains(FOLDER), "{error}");
                        named += 1;
                    }
                }
            }
        }
        // Without the certificate that is made again, or without its key's name in the error, one
        // of these is 0.
        assert!(whole > 0 && named > 0, "{points} operations: {whole} times whole, {named} times refused");
    }

    fn authority() -> (Arc<dyn Files>, Authority) {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let authority = Authority::create_on(files.clone(), files.clone(), Path::new(FOLDER)).unwrap();
        (files, authority)
    }

    #[test]
    fn a_certificate_carries_the_name_and_the_hosts_of_its_node() {
        let (files, authority) = authority();
        let (path, secret) = authority.issue("alpha", &["alpha.example".into(), "10.0.0.5".into()]).unwrap();
        assert_eq!((path.as_path(), secret.as_path()), (Path::new("/pki/alpha.pem"), Path::new("/pki/alpha.key")));
        let certificate = pem::parse(files.read(&path).unwrap()).unwrap();
        let holds = |bytes: &[u8]| certificate.contents().windows(bytes.len()).any(|part| part == bytes);
        assert!(holds(b"alpha.example") && holds(&[10, 0, 0, 5]) && holds(b"fabnet run authority"));
        assert!(!holds(b"beta"));
    }

    #[test]
    fn a_node_without_given_hosts_is_reached_on_this_machine() {
        assert_eq!(Authority::hosts("alpha", Vec::new()), ["alpha", "localhost", "127.0.0.1"]);
        assert_eq!(Authority::hosts("alpha", vec!["a.example".into()]), ["a.example"]);
    }

    #[test]
    fn nothing_that_exists_is_written_over() {
        let (files, authority) = authority();
        authority.issue("alpha", &["localhost".into()]).unwrap();
        let key = files.read(Path::new("/pki/alpha.key")).unwrap();
        let again = authority.issue("alpha", &["localhost".into()]).unwrap_err();
        assert!(matches!(&again, PkiError::Exists(path) if path == Path::new("/pki/alpha.pem")), "{again}");
        assert_eq!(files.read(Path::new("/pki/alpha.key")).unwrap(), key);
        let second = Authority::create_on(files.clone(), files.clone(), Path::new(FOLDER)).err().unwrap();
        assert!(matches!(&second, PkiError::Exists(path) if path == Path::new("/pki/ca.key")), "{second}");
    }

    #[test]
    fn a_key_that_is_no_key_is_named() {
        let (files, _) = authority();
        files.write(Path::new("/pki/ca.key"), b"nonsense").unwrap();
        let error = Authority::open_on(files.clone(), files.clone(), Path::new(FOLDER)).err().unwrap().to_string();
        assert!(error.starts_with("/pki/ca.key: "), "{error}");
    }
}
