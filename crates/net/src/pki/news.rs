//! What there is to know about the certificates of a node while it runs.

use std::fmt;
use std::time::Duration;

use super::error::PkiError;
use super::validity::moment;

/// Something to know about the certificates of a node.
#[derive(Debug)]
pub enum CertificateNews {
    /// A certificate expires soon, or has expired.
    Expires(CertificateExpiry),
    /// The files hold another certificate, which can be used from now on.
    Renewed {
        /// The last moment at which it is valid.
        until: String,
        /// Whether new connections need to be made for it: another certificate of the authority
        /// for the same key needs none.
        needs_connection: bool,
    },
    /// The files hold something else, which cannot be used; the certificate before is kept.
    Unusable(PkiError),
}

/// The first of a node's certificates to expire: its own or that of its authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateExpiry {
    /// The file of the certificate.
    pub path: String,
    /// The name by which it is renewed.
    pub name: String,
    /// The last moment at which it is valid, as the time since 1970-01-01 UTC.
    pub until: Duration,
    /// The whole days that are left; negative after it has expired.
    pub days_left: i64,
}

impl CertificateNews {
    /// Writes the news into the log.
    pub fn log(&self) {
        match self {
            Self::Renewed { .. } => tracing::info!("{self}"),
            Self::Expires(_) | Self::Unusable(_) => tracing::warn!("{self}"),
        }
    }
}

/// Says in words what is new.
impl fmt::Display for CertificateNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expires(expiry) => write!(f, "the certificate {expiry}"),
            Self::Renewed { until, .. } => write!(f, "a new certificate is used, until {until}"),
            Self::Unusable(error) => write!(f, "the new certificate is not used: {error}"),
        }
    }
}

/// Says when it expires, and what to do.
impl fmt::Display for CertificateExpiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, name, until, days_left } = self;
        let until = moment(*until);
        match days_left {
            ..0 => write!(f, "{path} has expired on {until}: new connections are refused")?,
            0 => write!(f, "{path} expires on {until}, within a day")?,
            _ => write!(f, "{path} expires on {until}, in {days_left} days")?,
        }
        write!(f, "; renew it with `fabnet pki renew FOLDER {name}`, and put the new file in its place")
    }
}
