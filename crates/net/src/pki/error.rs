//! Why there is no certificate.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::identity::IdentityMistake;
use super::validity::{Validity, moment};

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
    /// The node has a certificate already.
    #[error(
        "{0} exists already: `fabnet pki renew` makes a new certificate for the same key; for another key, move this \
         file away first"
    )]
    Issued(PathBuf),
    /// A certificate or a key cannot be made or understood.
    #[error("{0}: {1}")]
    Certificate(PathBuf, rcgen::Error),
    /// A key is damaged, or of a kind by which nodes cannot seal what they say.
    #[error(
        "{0}: no key of the kinds P-256 and Ed25519, by which nodes seal what they say; `fabnet pki` makes the first"
    )]
    KeyKind(PathBuf),
    /// A certificate cannot be read.
    #[error("{0}: {1}; is it the file of a certificate, such as NAME.pem?")]
    Unreadable(PathBuf, CertificateMistake),
    /// A request cannot be used.
    #[error("{0}: {1}. Make it again with `fabnet pki request`, and carry it over as it is")]
    Request(PathBuf, rcgen::Error),
    /// A name or a host cannot stand in a certificate.
    #[error(transparent)]
    Identity(#[from] IdentityMistake),
    /// A request, or a certificate that is to be renewed, is for a name or a host that cannot be.
    #[error("{0}: {1}")]
    IdentityIn(PathBuf, IdentityMistake),
    /// A certificate is of another authority, or of another node than its file says.
    #[error(
        "{path}: it is not the certificate that this authority has issued to `{name}`: it is for `{found}`, by another key or with another name"
    )]
    Foreign {
        /// The file that is meant.
        path: PathBuf,
        /// The name that was expected.
        name: String,
        /// The name in the certificate.
        found: String,
    },
    /// The certificate of a node, or of its authority, has expired.
    #[error(
        "{}: this certificate has expired: it was valid {validity}. Renew it with `fabnet pki renew FOLDER {name}`, \
         where FOLDER is that of the authority, put the new file in its place, and start the node again",
        path.display()
    )]
    Expired {
        /// The file that is meant.
        path: PathBuf,
        /// The name by which it is renewed.
        name: String,
        /// The time for which it was valid.
        validity: Validity,
    },
    /// The certificate of a node, or of its authority, is not valid yet.
    #[error(
        "{}: this certificate is not valid yet: it is valid {validity}, and this machine says that it is {now}. Set \
         the clock", path.display()
    )]
    ToCome {
        /// The file that is meant.
        path: PathBuf,
        /// The time for which it will be valid.
        validity: Validity,
        /// The time of this machine, in UTC.
        now: String,
    },
    /// A key is not the one of the certificate.
    #[error("{} is not the key of {}: copy both files again", key.display(), certificate.display())]
    OtherKey {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The authority itself cannot issue anything, because its certificate has expired.
    #[error("{0}: the certificate of the authority has expired on {until}: renew it with `fabnet pki renew FOLDER ca`, and give the new ca.pem to all nodes", until = moment(*.1))]
    AuthorityExpired(PathBuf, Duration),
}

/// The reason why a file holds no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateMistake {
    /// The file is not in PEM form, or holds something else.
    #[error("it holds no certificate in PEM form")]
    Form,
    /// What the PEM form holds is damaged.
    #[error("its certificate cannot be read: {0}")]
    Contents(String),
}

impl PkiError {
    /// Whether other arguments or another file would have avoided it.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Identity(_) | Self::IdentityIn(..) | Self::Request(..) | Self::Unreadable(..))
    }
}
