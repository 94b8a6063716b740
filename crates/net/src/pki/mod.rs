//! A run's certificates: an authority, and one certificate for each node.

mod authority;
#[cfg(test)]
mod authority_tests;
mod certificate;
mod environment;
mod error;
mod expulsion;
mod identity;
mod inspection;
mod member_keys;
#[cfg(test)]
mod member_keys_tests;
mod news;
mod pair;
mod request;
mod signing;
mod validity;
mod watch;

pub use authority::Authority;
pub use certificate::Certificate;
pub use environment::PkiEnvironment;
pub use error::{CertificateMistake, PkiError};
pub use expulsion::{ExpulsionList, ExpulsionMistake};
pub use identity::{IdentityMistake, NodeIdentity};
pub use inspection::{CertificateReport, KeyReport};
pub(crate) use member_keys::ForeignCertificate;
pub use member_keys::MemberKeys;
pub use news::{CertificateExpiry, CertificateNews};
pub use request::CertificateRequest;
pub use validity::Validity;
pub(crate) use validity::moment;
pub use watch::CertificateWatch;
