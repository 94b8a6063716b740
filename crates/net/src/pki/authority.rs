//! The authority of a run: it issues, signs and renews certificates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, SerialNumber, SubjectPublicKeyInfo, date_time_ymd,
};

use super::certificate::Certificate;
use super::environment::PkiEnvironment;
use super::error::PkiError;
use super::identity::NodeIdentity;
use super::pair::{write_pair, write_public};
use super::request::{CertificateRequest, named_params};
use super::validity::Validity;

/// The authority of a run, in a folder: `ca.pem` for everybody, `ca.key` for whoever admits nodes.
pub struct Authority {
    environment: PkiEnvironment,
    folder: PathBuf,
    key: KeyPair,
}

impl Authority {
    /// Makes an authority in a folder, whose certificate is valid for this long.
    pub fn create(folder: &Path, valid_for: Duration) -> Result<Self, PkiError> {
        Self::create_in(PkiEnvironment::system(), folder, valid_for)
    }

    /// Makes an authority in an environment.
    pub fn create_in(environment: PkiEnvironment, folder: &Path, valid_for: Duration) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        if environment.secret.exists(&path) {
            return Err(PkiError::Exists(path));
        }
        environment.shared.create_folder(folder).map_err(|error| PkiError::File(folder.to_owned(), error))?;
        let key = KeyPair::generate().map_err(|error| PkiError::Certificate(path.clone(), error))?;
        let authority = Self { environment, folder: folder.to_owned(), key };
        let certificate = authority.own_certificate(valid_for)?;
        let own = authority.certificate_path(NodeIdentity::AUTHORITY);
        if authority.environment.shared.exists(&own) {
            return Err(PkiError::Exists(own));
        }
        write_pair(&authority.environment, (&own, &certificate), (&path, &authority.key))?;
        Ok(authority)
    }

    /// Opens the authority of a folder.
    pub fn open(folder: &Path) -> Result<Self, PkiError> {
        Self::open_in(PkiEnvironment::system(), folder)
    }

    /// Opens an authority in an environment.
    pub fn open_in(environment: PkiEnvironment, folder: &Path) -> Result<Self, PkiError> {
        let path = folder.join("ca.key");
        let bytes = environment.secret.read(&path).map_err(|error| PkiError::File(path.clone(), error))?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&bytes));
        let key = key.map_err(|error| PkiError::Certificate(path, error))?;
        let authority = Self { environment, folder: folder.to_owned(), key };
        // Whoever made the authority may have been killed in between. The certificate follows from
        // the key.
        if !authority.environment.shared.exists(&authority.certificate_path(NodeIdentity::AUTHORITY)) {
            authority.renew_itself(Validity::OF_AUTHORITIES)?;
        }
        Ok(authority)
    }

    /// Issues `NAME.pem` and `NAME.key` for a node. The certificate is valid for this long, but not
    /// longer than the authority's own.
    pub fn issue(&self, identity: &NodeIdentity, valid_for: Duration) -> Result<(Certificate, PathBuf), PkiError> {
        let path = self.unused_path(identity)?;
        let key = KeyPair::generate().map_err(|error| PkiError::Certificate(path.clone(), error))?;
        let certificate = self.certificate(identity, &key, valid_for)?;
        let secret = self.folder.join(format!("{}.key", identity.name()));
        write_pair(&self.environment, (&path, &certificate), (&secret, &key))?;
        Ok((Certificate::parse(certificate.as_bytes(), &path)?, secret))
    }

    /// Issues `NAME.pem` for a request that was made on the machine of the node. Its signature,
    /// which shows that whoever asks has the key, and its names are checked.
    pub fn sign(&self, request: &Path, valid_for: Duration) -> Result<Certificate, PkiError> {
        let CertificateRequest { identity, public_key } = CertificateRequest::read(&self.environment, request)?;
        let path = self.unused_path(&identity)?;
        self.write(&path, &self.certificate(&identity, &public_key, valid_for)?)
    }

    /// Issues `NAME.pem` anew for the same key and the same hosts. The key itself is not needed.
    pub fn renew(&self, name: &str, valid_for: Duration) -> Result<Certificate, PkiError> {
        let path = self.certificate_path(NodeIdentity::new(name, Vec::new())?.name());
        let former = Certificate::read(&*self.environment.shared, &path)?;
        let identity = NodeIdentity::new(name, former.hosts().to_vec());
        let identity = identity.map_err(|mistake| PkiError::IdentityIn(path.clone(), mistake))?;
        if former.name() != name || !former.is_issued_by(&self.own()?) {
            return Err(PkiError::Foreign { path, name: name.to_owned(), found: former.name().to_owned() });
        }
        let key = SubjectPublicKeyInfo::from_der(former.public_key());
        let key = key.map_err(|error| PkiError::Certificate(path.clone(), error))?;
        self.write(&path, &self.certificate(&identity, &key, valid_for)?)
    }

    /// Issues `ca.pem` anew for the same key: certificates of nodes stay valid.
    pub fn renew_itself(&self, valid_for: Duration) -> Result<Certificate, PkiError> {
        self.write(&self.certificate_path(NodeIdentity::AUTHORITY), &self.own_certificate(valid_for)?)
    }

    /// The certificate of the authority itself.
    fn own(&self) -> Result<Certificate, PkiError> {
        Certificate::read(&*self.environment.shared, &self.certificate_path(NodeIdentity::AUTHORITY))
    }

    /// Makes the certificate of the authority itself.
    fn own_certificate(&self, valid_for: Duration) -> Result<String, PkiError> {
        let mut params = authority();
        let validity = Validity::starting(self.environment.clock.unix_time(), valid_for);
        let dated = date_and_number(&mut params, validity);
        let certificate = dated.and_then(|()| params.self_signed(&self.key));
        let path = || self.certificate_path(NodeIdentity::AUTHORITY);
        certificate.map(|it| it.pem()).map_err(|error| PkiError::Certificate(path(), error))
    }

    /// Makes the certificate of a node.
    fn certificate(
        &self,
        identity: &NodeIdentity,
        key: &impl PublicKeyData,
        valid_for: Duration,
    ) -> Result<String, PkiError> {
        let (now, own) = (self.environment.clock.unix_time(), self.own()?);
        if own.validity().is_over(now) {
            return Err(PkiError::AuthorityExpired(own.path().to_owned(), own.validity().until));
        }
        let validity = Validity::starting(now, valid_for);
        let validity = Validity { until: validity.until.min(own.validity().until), ..validity };
        let issued = node_params(identity, validity).and_then(|params| {
            let certificate = params.signed_by(key, &Issuer::new(authority(), &self.key))?;
            Ok(certificate.pem())
        });
        issued.map_err(|error| PkiError::Certificate(self.certificate_path(identity.name()), error))
    }

    /// The path of a node's certificate, which must not exist yet.
    fn unused_path(&self, identity: &NodeIdentity) -> Result<PathBuf, PkiError> {
        let path = self.certificate_path(identity.name());
        if self.environment.shared.exists(&path) { Err(PkiError::Issued(path)) } else { Ok(path) }
    }

    fn certificate_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.pem"))
    }

    fn write(&self, path: &Path, certificate: &str) -> Result<Certificate, PkiError> {
        write_public(&*self.environment.shared, path, certificate)?;
        Certificate::parse(certificate.as_bytes(), path)
    }
}

/// The parameters of an authority's certificate, without its dates. All authorities have the same;
/// their keys tell them apart.
fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "fabnet run authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// The parameters of a node's certificate.
fn node_params(identity: &NodeIdentity, validity: Validity) -> Result<CertificateParams, rcgen::Error> {
    let mut params = named_params(identity)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    date_and_number(&mut params, validity)?;
    Ok(params)
}

/// Gives a certificate its dates and a number of its own: two certificates of one authority must
/// differ in their numbers, even if their keys do not.
fn date_and_number(params: &mut CertificateParams, validity: Validity) -> Result<(), rcgen::Error> {
    let [from, until] = [validity.from, validity.until].map(|time| date_time_ymd(1970, 1, 1) + time);
    (params.not_before, params.not_after) = (from, until);
    let number = getrandom::u64().map_err(|_| rcgen::Error::RingUnspecified)?;
    params.serial_number = Some(SerialNumber::from(number >> 1));
    Ok(())
}
