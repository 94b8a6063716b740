//! What there is to know of a certificate before it is used.

use std::path::Path;
use std::time::Duration;

use fabnet_files::Files;
use rcgen::{KeyPair, PublicKeyData};
use serde::Serialize;

use super::certificate::Certificate;
use super::error::PkiError;
use super::identity::NodeIdentity;
use super::validity::moment;

/// What there is to know of a certificate and of the key beside it. Scripts read its fields as
/// JSON.
#[derive(Clone, Debug, Serialize)]
pub struct CertificateReport {
    /// The file of the certificate.
    pub path: String,
    /// The common name of its owner.
    pub subject: String,
    /// The hosts under which others reach its owner.
    pub hosts: Vec<String>,
    /// The common name of the authority that has issued it.
    pub issuer: String,
    /// The first moment at which it is valid, in UTC.
    pub valid_from: String,
    /// The last moment at which it is valid, in UTC.
    pub valid_until: String,
    /// The whole days that are left; negative after it has expired.
    pub days_left: i64,
    /// The SHA-256 of its public key (the field `SubjectPublicKeyInfo`).
    pub fingerprint: String,
    /// The key beside it: the file with the same name that ends in `.key`, if there is one.
    pub key: Option<KeyReport>,
    /// The reasons why a node cannot use it, with what to do.
    pub problems: Vec<String>,
    /// What should be changed, although a node can use it.
    pub warnings: Vec<String>,
}

/// The key beside a certificate.
#[derive(Clone, Debug, Serialize)]
pub struct KeyReport {
    /// The file of the key.
    pub path: String,
    /// Whether it is the key of the certificate.
    pub matches: bool,
    /// Its permissions, as octal digits, where the system has them.
    pub mode: Option<String>,
}

impl CertificateReport {
    /// Inspects the certificate of a file at this time.
    pub fn of(files: &dyn Files, path: &Path, now: Duration) -> Result<Self, PkiError> {
        let certificate = Certificate::read(files, path)?;
        let validity = certificate.validity();
        let mut report = Self {
            path: path.display().to_string(),
            subject: certificate.name().to_owned(),
            hosts: certificate.hosts().to_vec(),
            issuer: certificate.issuer().to_owned(),
            valid_from: moment(validity.from),
            valid_until: moment(validity.until),
            days_left: validity.days_left(now),
            fingerprint: certificate.fingerprint(),
            key: None,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        if validity.is_over(now) {
            report.problems.push(format!("it has expired: `fabnet pki renew FOLDER {}` renews it", file_name(path)));
        } else if validity.is_to_come(now) {
            report.problems.push("it is not valid yet: is the clock of this machine right?".to_owned());
        }
        report.look_at_key(files, &certificate, &path.with_extension("key"))?;
        Ok(report)
    }

    /// Adds what there is to know of the key, if it is there.
    fn look_at_key(&mut self, files: &dyn Files, certificate: &Certificate, path: &Path) -> Result<(), PkiError> {
        let wrong = |error| PkiError::File(path.to_owned(), error);
        let Some(bytes) = files.read_if_there(path).map_err(wrong)? else { return Ok(()) };
        let (matches, mode) = (certificate.has_key(&bytes), files.mode(path).map_err(wrong)?);
        let path = path.display().to_string();
        if !matches {
            self.problems.push(format!("{path} is not its key: copy both files again, or ask for a new certificate"));
        }
        if let Some(mode) = mode.filter(|mode| mode & 0o077 != 0) {
            self.warnings.push(format!("others than its owner can use {path} (mode {mode:04o}): `chmod 600 {path}`"));
        }
        self.key = Some(KeyReport { path, matches, mode: mode.map(|mode| format!("{mode:04o}")) });
        Ok(())
    }
}

impl Certificate {
    /// Whether this file of a key, in PEM form, holds the key of this certificate.
    pub fn has_key(&self, pem: &[u8]) -> bool {
        let key = KeyPair::from_pem(&String::from_utf8_lossy(pem));
        key.is_ok_and(|key| key.subject_public_key_info() == self.public_key())
    }
}

/// The name by which a certificate is renewed: that of its file.
fn file_name(path: &Path) -> String {
    path.file_stem().map_or_else(|| NodeIdentity::AUTHORITY.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fabnet_files::MemoryFiles;

    use super::super::authority::Authority;
    use super::super::environment::PkiEnvironment;
    use super::super::validity::Validity;
    use super::*;
    use crate::clock::{Clock, ManualClock};

    const FOLDER: &str = "/pki";

    /// An authority with a certificate for `alpha`, and what they were made with.
    fn issued() -> (Arc<dyn Files>, Arc<ManualClock>, Authority) {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let clock = Arc::new(ManualClock::default());
        let environment = PkiEnvironment { shared: files.clone(), secret: files.clone(), clock: clock.clone() };
        let authority = Authority::create_in(environment, Path::new(FOLDER), Validity::OF_AUTHORITIES).unwrap();
        let alpha = NodeIdentity::new("alpha", vec!["alpha.example".into(), "10.0.0.5".into()]).unwrap();
        authority.issue(&alpha, Validity::OF_NODES).unwrap();
        (files, clock, authority)
    }

    fn report(files: &Arc<dyn Files>, clock: &ManualClock, name: &str) -> CertificateReport {
        CertificateReport::of(&**files, &Path::new(FOLDER).join(name), clock.unix_time()).unwrap()
    }

    #[test]
    fn a_report_says_whose_it_is_for_how_long_and_which_key_it_has() {
        let (files, clock, _) = issued();
        let alpha = report(&files, &clock, "alpha.pem");
        assert_eq!((alpha.subject.as_str(), alpha.issuer.as_str()), ("alpha", "fabnet run authority"));
        assert_eq!(alpha.hosts, ["alpha.example", "10.0.0.5"]);
        assert_eq!(
            (alpha.valid_from.as_str(), alpha.valid_until.as_str()),
            ("2023-11-14T21:13:20Z", "2024-02-12T22:13:20Z")
        );
        assert_eq!((alpha.days_left, alpha.fingerprint.len()), (90, 64));
        let key = alpha.key.unwrap();
        assert_eq!((key.path.as_str(), key.matches), ("/pki/alpha.key", true));
        assert!(alpha.problems.is_empty() && alpha.warnings.is_empty());
        let own = report(&files, &clock, "ca.pem");
        assert_eq!((own.days_left, own.subject.as_str(), own.hosts.len()), (730, "fabnet run authority", 0));
        assert_ne!(own.fingerprint, alpha.fingerprint);
    }

    #[test]
    fn a_certificate_that_has_expired_says_how_it_is_renewed() {
        let (files, clock, _) = issued();
        clock.advance(Validity::days(90));
        assert_eq!(report(&files, &clock, "alpha.pem").problems, [""; 0], "the last second counts");
        clock.advance(Duration::from_secs(1));
        let alpha = report(&files, &clock, "alpha.pem");
        assert_eq!((alpha.days_left, alpha.problems.len()), (-1, 1));
        assert!(alpha.problems[0].contains("`fabnet pki renew FOLDER alpha`"), "{:?}", alpha.problems);
    }

    #[test]
    fn a_certificate_of_a_later_time_is_a_problem() {
        let (files, clock, _) = issued();
        let early = clock.unix_time().saturating_sub(Duration::from_secs(3700));
        let alpha = CertificateReport::of(&*files, Path::new("/pki/alpha.pem"), early).unwrap();
        assert!(alpha.problems[0].contains("not valid yet"), "{:?}", alpha.problems);
    }

    #[test]
    fn a_key_of_another_certificate_is_a_problem_and_none_is_not() {
        let (files, clock, authority) = issued();
        authority.issue(&NodeIdentity::new("beta", Vec::new()).unwrap(), Validity::OF_NODES).unwrap();
        let beta = files.read(Path::new("/pki/beta.key")).unwrap();
        for other in [&beta[..], b"nonsense"] {
            files.write(Path::new("/pki/alpha.key"), other).unwrap();
            let alpha = report(&files, &clock, "alpha.pem");
            assert!(!alpha.key.unwrap().matches && alpha.problems[0].contains("/pki/alpha.key is not its key"));
        }
        files.remove(Path::new("/pki/alpha.key")).unwrap();
        let alpha = report(&files, &clock, "alpha.pem");
        assert!(alpha.key.is_none() && alpha.problems.is_empty());
    }

    #[test]
    fn a_file_that_is_no_certificate_is_named() {
        let (files, clock, _) = issued();
        let damaged = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        files.write(Path::new("/pki/damaged.pem"), damaged).unwrap();
        for (name, says) in
            [("alpha.key", "no certificate"), ("damaged.pem", "cannot be read"), ("gone.pem", "/pki/gone.pem")]
        {
            let error = CertificateReport::of(&*files, &Path::new(FOLDER).join(name), clock.unix_time()).unwrap_err();
            assert!(error.to_string().contains(says) && error.to_string().starts_with("/pki/"), "{error}");
        }
    }
}
