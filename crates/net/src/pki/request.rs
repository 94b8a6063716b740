//! A request for a certificate, so that keys never leave the machine of their node.

use std::path::{Path, PathBuf};

use rcgen::{
    CertificateParams, CertificateSigningRequestParams, DistinguishedName, DnType, DnValue, KeyPair, PublicKey, SanType,
};

use super::environment::PkiEnvironment;
use super::error::PkiError;
use super::identity::NodeIdentity;
use super::pair::write_pair;

/// A request whose signature and names were checked: who asks, and with which key.
#[derive(Debug)]
pub struct CertificateRequest {
    pub(super) identity: NodeIdentity,
    pub(super) public_key: PublicKey,
}

impl CertificateRequest {
    /// Makes `NAME.key` and `NAME.csr` in a folder, on the machine of the node.
    pub fn create(folder: &Path, identity: &NodeIdentity) -> Result<(PathBuf, PathBuf), PkiError> {
        Self::create_in(&PkiEnvironment::system(), folder, identity)
    }

    /// Makes both files in an environment.
    pub fn create_in(
        environment: &PkiEnvironment,
        folder: &Path,
        identity: &NodeIdentity,
    ) -> Result<(PathBuf, PathBuf), PkiError> {
        let file = |kind: &str| folder.join(format!("{}.{kind}", identity.name()));
        let (path, secret) = (file("csr"), file("key"));
        let wrong = |error| PkiError::Certificate(path.clone(), error);
        let key = KeyPair::generate().map_err(wrong)?;
        let request = named_params(identity).and_then(|params| params.serialize_request(&key)?.pem()).map_err(wrong)?;
        environment.shared.create_folder(folder).map_err(|error| PkiError::File(folder.to_owned(), error))?;
        write_pair(environment, (&path, &request), (&secret, &key))?;
        Ok((path, secret))
    }

    /// Reads a request. What it asks for beyond a name and hosts, such as being an authority, is
    /// not granted.
    pub(super) fn read(environment: &PkiEnvironment, path: &Path) -> Result<Self, PkiError> {
        let bytes = environment.shared.read(path).map_err(|error| PkiError::File(path.to_owned(), error))?;
        let wrong = |error| PkiError::Request(path.to_owned(), error);
        let text = String::from_utf8_lossy(&bytes);
        let asked = CertificateSigningRequestParams::from_pem(&text).map_err(wrong)?;
        let name = common_name(&asked.params.distinguished_name);
        let hosts = asked.params.subject_alt_names.iter().map(host).collect::<Result<_, _>>().map_err(wrong)?;
        let identity =
            NodeIdentity::new(&name, hosts).map_err(|mistake| PkiError::IdentityIn(path.to_owned(), mistake))?;
        Ok(Self { identity, public_key: asked.public_key })
    }

    /// The name and the hosts of whoever asks.
    pub fn identity(&self) -> &NodeIdentity {
        &self.identity
    }
}

/// The parameters of a certificate or a request that name a node and its hosts, and nothing else.
pub(super) fn named_params(identity: &NodeIdentity) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(identity.hosts())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, identity.name());
    Ok(params)
}

/// The common name; empty if there is none, which no node can be called.
fn common_name(of: &DistinguishedName) -> String {
    match of.get(&DnType::CommonName) {
        Some(DnValue::Utf8String(name)) => name.clone(),
        Some(DnValue::PrintableString(name)) => name.as_str().to_owned(),
        _ => String::new(),
    }
}

/// A host as text; other kinds of names are refused, so that nothing is granted unseen.
fn host(name: &SanType) -> Result<String, rcgen::Error> {
    match name {
        SanType::DnsName(name) => Ok(name.as_str().to_owned()),
        SanType::IpAddress(address) => Ok(address.to_string()),
        _ => Err(rcgen::Error::InvalidNameType),
    }
}
