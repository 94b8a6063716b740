//! A certificate that was read from a file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fabnet_files::Files;
use sha2::{Digest, Sha256};
use x509_parser::certificate::X509Certificate;
use x509_parser::error::X509Error;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;
use x509_parser::x509::{SubjectPublicKeyInfo, X509Name};

use super::error::{CertificateMistake, PkiError};
use super::validity::Validity;
use crate::hex::Hex;

/// What stands in a certificate, as far as nodes are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    path: PathBuf,
    der: Vec<u8>,
    name: String,
    hosts: Vec<String>,
    issuer: String,
    validity: Validity,
    /// The public key with its algorithm, as the certificate holds them.
    public_key: Vec<u8>,
}

impl Certificate {
    /// Reads the certificate of a file; of several, the first one.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, PkiError> {
        let bytes = files.read(path).map_err(|error| PkiError::File(path.to_owned(), error))?;
        Self::parse(&bytes, path)
    }

    /// Reads the certificate that these bytes hold, of the file at this path.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> Result<Self, PkiError> {
        let wrong = |mistake| PkiError::Unreadable(path.to_owned(), mistake);
        let (_, pem) = parse_x509_pem(bytes).map_err(|_| wrong(CertificateMistake::Form))?;
        if pem.label != "CERTIFICATE" {
            return Err(wrong(CertificateMistake::Form));
        }
        Self::from_der(&pem.contents, path)
    }

    /// Reads the certificate that these bytes hold in DER form, from the file at this path.
    pub(crate) fn from_der(der: &[u8], path: &Path) -> Result<Self, PkiError> {
        let damaged = |error: &dyn std::fmt::Display| {
            PkiError::Unreadable(path.to_owned(), CertificateMistake::Contents(error.to_string()))
        };
        let (_, found) = parse_x509_certificate(der).map_err(|error| damaged(&error))?;
        Ok(Self {
            path: path.to_owned(),
            name: common_name(found.subject()),
            hosts: hosts(&found).map_err(|error| damaged(&error))?,
            issuer: common_name(found.issuer()),
            validity: validity(&found),
            public_key: found.public_key().raw.to_vec(),
            der: der.to_vec(),
        })
    }

    /// The certificate in DER form.
    pub(crate) fn der(&self) -> &[u8] {
        &self.der
    }

    /// The file that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The common name of its owner.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hosts under which others reach its owner.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The common name of the authority that has issued it.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The time for which it is valid.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// Whether it may issue certificates.
    pub fn is_authority(&self) -> bool {
        parse_x509_certificate(&self.der).is_ok_and(|(_, found)| found.is_ca())
    }

    /// The SHA-256 of its public key (the field `SubjectPublicKeyInfo`), as hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let hash: [u8; 32] = Sha256::digest(&self.public_key).into();
        Hex(&hash).to_string()
    }

    /// The public key with its algorithm (the field `SubjectPublicKeyInfo`).
    pub(super) fn public_key(&self) -> &[u8] {
        &self.public_key
    }

    /// Whether the key of another certificate has signed this one.
    pub fn is_issued_by(&self, authority: &Self) -> bool {
        let own = parse_x509_certificate(&self.der);
        let key = SubjectPublicKeyInfo::from_der(&authority.public_key);
        let (Ok((_, own)), Ok((_, key))) = (own, key) else { return false };
        own.verify_signature(Some(&key)).is_ok()
    }
}

/// The first common name; empty if there is none.
fn common_name(of: &X509Name<'_>) -> String {
    of.iter_common_name().next().and_then(|name| name.as_str().ok()).unwrap_or_default().to_owned()
}

/// The hosts that a certificate names. Other kinds of names are left out: nodes do not use them.
fn hosts(found: &X509Certificate<'_>) -> Result<Vec<String>, X509Error> {
    let names = found.subject_alternative_name()?;
    let names = names.iter().flat_map(|extension| &extension.value.general_names);
    Ok(names.filter_map(host).collect())
}

fn host(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from)).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

/// Dates before 1970 are that year's first moment.
fn validity(found: &X509Certificate<'_>) -> Validity {
    let time = |time: ASN1Time| Duration::from_secs(u64::try_from(time.timestamp()).unwrap_or_default());
    Validity { from: time(found.validity().not_before), until: time(found.validity().not_after) }
}
