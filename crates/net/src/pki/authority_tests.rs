//! Tests of the authority: what it issues, signs and renews, and what it refuses.

#![allow(clippy::unwrap_used)]

use std::io;
use std::path::Path;
use std::sync::Arc;

use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};

use super::authority::Authority;
use super::certificate::Certificate;
use super::environment::PkiEnvironment;
use super::error::PkiError;
use super::identity::NodeIdentity;
use super::request::{CertificateRequest, named_params};
use super::validity::Validity;
use crate::clock::{Clock, ManualClock};

const FOLDER: &str = "/pki";

/// What an authority is made with, in memory.
fn environment(files: &Arc<dyn Files>, clock: &Arc<ManualClock>) -> PkiEnvironment {
    PkiEnvironment { shared: files.clone(), secret: files.clone(), clock: clock.clone() }
}

fn identity(name: &str, hosts: &[&str]) -> NodeIdentity {
    NodeIdentity::new(name, hosts.iter().map(|host| (*host).to_owned()).collect()).unwrap()
}

/// An authority and one certificate, as `fabnet pki` makes them.
fn set_up(files: &Arc<dyn Files>) -> Result<(), PkiError> {
    let environment = environment(files, &Arc::default());
    let authority = match Authority::open_in(environment.clone(), Path::new(FOLDER)) {
        Err(PkiError::File(_, error)) if error.kind() == io::ErrorKind::NotFound => {
            Authority::create_in(environment, Path::new(FOLDER), Validity::OF_AUTHORITIES)?
        }
        authority => authority?,
    };
    authority.issue(&identity("alpha", &["localhost"]), Validity::OF_NODES).map(|_| ())
}

/// Whether a key is there, with the certificate that was made for it.
fn is_whole(files: &dyn Files, name: &str) -> bool {
    let path = |kind: &str| Path::new(FOLDER).join(format!("{name}.{kind}"));
    let certificate = Certificate::read(files, &path("pem"));
    certificate.is_ok_and(|certificate| files.read(&path("key")).is_ok_and(|key| certificate.has_key(&key)))
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
                    // What a full disk has left of a pair is taken away, unless there was no harm.
                    let is_complete = matches!(error, PkiError::Issued(_));
                    assert!(failure == Failure::Kill || is_complete, "{failure:?} at {at}: {error}");
                    assert!(error.to_string().contains(FOLDER), "{error}");
                    named += 1;
                }
            }
        }
    }
    // Without the certificate that is made again, or without its key's name in the error, one of
    // these is 0.
    assert!(whole > 0 && named > 0, "{points} operations: {whole} times whole, {named} times refused");
}

/// An authority, its files, and the clock that dates its certificates.
fn authority() -> (Arc<dyn Files>, Arc<ManualClock>, Authority) {
    let (files, clock): (Arc<dyn Files>, _) = (Arc::new(MemoryFiles::default()), Arc::new(ManualClock::default()));
    let environment = environment(&files, &clock);
    let authority = Authority::create_in(environment, Path::new(FOLDER), Validity::OF_AUTHORITIES).unwrap();
    (files, clock, authority)
}

#[test]
fn a_certificate_carries_the_name_and_the_hosts_of_its_node_and_the_dates_that_were_asked_for() {
    let (files, clock, authority) = authority();
    let alpha = identity("alpha", &["alpha.example", "10.0.0.5", "2001:db8::1"]);
    let (certificate, secret) = authority.issue(&alpha, Validity::days(30)).unwrap();
    assert_eq!((certificate.path(), secret.as_path()), (Path::new("/pki/alpha.pem"), Path::new("/pki/alpha.key")));
    let read = Certificate::read(&*files, certificate.path()).unwrap();
    assert_eq!((read.name(), read.issuer()), ("alpha", "fabnet run authority"));
    assert_eq!(read.hosts(), alpha.hosts());
    assert_eq!(read.validity().until, clock.unix_time() + Validity::days(30));
    let own = Certificate::read(&*files, Path::new("/pki/ca.pem")).unwrap();
    assert!(read.is_issued_by(&own) && own.is_issued_by(&own) && !own.is_issued_by(&read));
    assert_eq!(own.validity().until, clock.unix_time() + Validity::OF_AUTHORITIES);
}

#[test]
fn nothing_that_exists_is_written_over() {
    let (files, clock, authority) = authority();
    authority.issue(&identity("alpha", &["localhost"]), Validity::OF_NODES).unwrap();
    let key = files.read(Path::new("/pki/alpha.key")).unwrap();
    let again = authority.issue(&identity("alpha", &["localhost"]), Validity::OF_NODES).unwrap_err();
    assert!(matches!(&again, PkiError::Issued(path) if path == Path::new("/pki/alpha.pem")), "{again}");
    assert_eq!(files.read(Path::new("/pki/alpha.key")).unwrap(), key);
    let create = || Authority::create_in(environment(&files, &clock), Path::new(FOLDER), Validity::OF_AUTHORITIES);
    let second = create().err().unwrap();
    assert!(matches!(&second, PkiError::Exists(path) if path == Path::new("/pki/ca.key")), "{second}");
    files.remove(Path::new("/pki/ca.key")).unwrap();
    let third = create().err().unwrap();
    assert!(matches!(&third, PkiError::Exists(path) if path == Path::new("/pki/ca.pem")), "{third}");
}

#[test]
fn an_authority_without_its_certificate_makes_it_again() {
    let (files, clock, authority) = authority();
    let (alpha, _) = authority.issue(&identity("alpha", &[]), Validity::OF_NODES).unwrap();
    files.remove(Path::new("/pki/ca.pem")).unwrap();
    Authority::open_in(environment(&files, &clock), Path::new(FOLDER)).unwrap();
    assert!(alpha.is_issued_by(&Certificate::read(&*files, Path::new("/pki/ca.pem")).unwrap()));
}

#[test]
fn a_key_that_is_no_key_is_named() {
    let (files, clock, _) = authority();
    files.write(Path::new("/pki/ca.key"), b"nonsense").unwrap();
    let error = Authority::open_in(environment(&files, &clock), Path::new(FOLDER)).err().unwrap().to_string();
    assert!(error.starts_with("/pki/ca.key: "), "{error}");
}

#[test]
fn a_certificate_is_renewed_for_the_same_key_and_hosts() {
    let (files, clock, authority) = authority();
    let (former, _) = authority.issue(&identity("alpha", &["a.example", "10.0.0.5"]), Validity::OF_NODES).unwrap();
    clock.advance(Validity::days(100));
    // Whoever renews does not need the key.
    files.rename(Path::new("/pki/alpha.key"), Path::new("/elsewhere")).unwrap();
    let renewed = authority.renew("alpha", Validity::days(7)).unwrap();
    let read = Certificate::read(&*files, Path::new("/pki/alpha.pem")).unwrap();
    assert_eq!((read.fingerprint(), read.hosts()), (former.fingerprint(), former.hosts()));
    assert_eq!(read.validity(), renewed.validity());
    assert_eq!(read.validity().until, clock.unix_time() + Validity::days(7));
    assert!(read.is_issued_by(&Certificate::read(&*files, Path::new("/pki/ca.pem")).unwrap()));
}

#[test]
fn only_what_this_authority_has_issued_under_that_name_is_renewed() {
    let (files, clock, authority) = authority();
    authority.issue(&identity("alpha", &[]), Validity::OF_NODES).unwrap();
    let alpha = files.read(Path::new("/pki/alpha.pem")).unwrap();
    files.write(Path::new("/pki/beta.pem"), &alpha).unwrap();
    let other =
        Authority::create_in(environment(&files, &clock), Path::new("/other"), Validity::OF_AUTHORITIES).unwrap();
    other.issue(&identity("gamma", &[]), Validity::OF_NODES).unwrap();
    files.write(Path::new("/pki/gamma.pem"), &files.read(Path::new("/other/gamma.pem")).unwrap()).unwrap();
    for name in ["beta", "gamma"] {
        let error = authority.renew(name, Validity::OF_NODES).unwrap_err();
        assert!(matches!(&error, PkiError::Foreign { name: expected, .. } if expected == name), "{error}");
    }
    assert_eq!(files.read(Path::new("/pki/beta.pem")).unwrap(), alpha, "and left as it was");
    let error = authority.renew("delta", Validity::OF_NODES).unwrap_err();
    assert!(error.to_string().starts_with("/pki/delta.pem: "), "{error}");
    let error = authority.renew("../other/gamma", Validity::OF_NODES).unwrap_err();
    assert!(matches!(&error, PkiError::Identity(_)) && error.is_usage(), "{error}");
}

#[test]
fn a_certificate_does_not_outlive_its_authority_which_is_renewed_for_the_same_key() {
    let (files, clock, authority) = authority();
    clock.advance(Validity::days(700));
    let (alpha, _) = authority.issue(&identity("alpha", &[]), Validity::OF_NODES).unwrap();
    let own = Certificate::read(&*files, Path::new("/pki/ca.pem")).unwrap();
    assert_eq!(alpha.validity().until, own.validity().until);
    clock.advance(Validity::days(31));
    let expired = authority.renew("alpha", Validity::OF_NODES).unwrap_err();
    assert!(matches!(&expired, PkiError::AuthorityExpired(..)), "{expired}");
    assert!(expired.to_string().contains("`fabnet pki renew FOLDER ca`"), "{expired}");
    let renewed = authority.renew_itself(Validity::OF_AUTHORITIES).unwrap();
    assert_eq!(renewed.fingerprint(), own.fingerprint());
    assert!(alpha.is_issued_by(&renewed));
    assert_eq!(authority.renew("alpha", Validity::OF_NODES).unwrap().validity().days_left(clock.unix_time()), 90);
}

#[test]
fn a_request_is_signed_for_the_key_that_stays_with_the_node() {
    let (files, clock, authority) = authority();
    let alpha = identity("alpha", &["a.example", "10.0.0.5"]);
    let site = environment(&files, &clock);
    let (request, key) = CertificateRequest::create_in(&site, Path::new("/site"), &alpha).unwrap();
    assert_eq!((request.as_path(), key.as_path()), (Path::new("/site/alpha.csr"), Path::new("/site/alpha.key")));
    let certificate = authority.sign(&request, Validity::days(30)).unwrap();
    assert_eq!((certificate.name(), certificate.hosts()), ("alpha", alpha.hosts()));
    assert!(certificate.has_key(&files.read(&key).unwrap()) && !files.exists(Path::new("/pki/alpha.key")));
    assert!(certificate.is_issued_by(&Certificate::read(&*files, Path::new("/pki/ca.pem")).unwrap()));
    let again = authority.sign(&request, Validity::days(30)).unwrap_err();
    assert!(matches!(&again, PkiError::Issued(_)), "{again}");
    let second = CertificateRequest::create_in(&site, Path::new("/site"), &alpha).unwrap_err();
    assert!(matches!(&second, PkiError::Exists(path) if path == Path::new("/site/alpha.key")), "{second}");
}

/// Makes a request for `alpha`, changes it, and has it signed.
fn sign_after(
    change: impl FnOnce(&mut CertificateParams),
    tamper: impl FnOnce(&mut Vec<u8>),
) -> Result<Certificate, PkiError> {
    let (files, _, authority) = authority();
    let mut params = named_params(&identity("alpha", &["a.example"])).unwrap();
    change(&mut params);
    let mut der = params.serialize_request(&KeyPair::generate().unwrap()).unwrap().der().to_vec();
    tamper(&mut der);
    let path = Path::new("/alpha.csr");
    files.write(path, pem::encode(&pem::Pem::new("CERTIFICATE REQUEST", der)).as_bytes()).unwrap();
    authority.sign(path, Validity::OF_NODES)
}

#[test]
fn a_request_that_was_altered_is_refused() {
    assert!(sign_after(|_| {}, |_| {}).is_ok());
    // Another name of the same length, under the signature of the first one.
    let rename = |der: &mut Vec<u8>| {
        let place = der.windows(5).position(|part| part == b"alpha").unwrap();
        der[place..place + 5].copy_from_slice(b"omega");
    };
    let error = sign_after(|_| {}, rename).unwrap_err();
    assert!(matches!(&error, PkiError::Request(_, rcgen::Error::InvalidCertificationRequestSignature)), "{error}");
    let error = sign_after(|_| {}, |der| der.truncate(20)).unwrap_err();
    assert!(matches!(&error, PkiError::Request(..)) && error.is_usage(), "{error}");
}

#[test]
fn a_request_for_a_name_that_cannot_be_is_refused_and_rights_that_it_asks_for_are_not_granted() {
    for name in ["../escaped", "ca", "*"] {
        let error = sign_after(|params| params.distinguished_name.push(DnType::CommonName, name), |_| {}).unwrap_err();
        assert!(matches!(&error, PkiError::IdentityIn(..)), "{name}: {error}");
    }
    let wildcard = rcgen::SanType::DnsName("*.example".try_into().unwrap());
    let error = sign_after(|params| params.subject_alt_names.push(wildcard), |_| {}).unwrap_err();
    assert!(matches!(&error, PkiError::IdentityIn(..)), "{error}");
    let mail = rcgen::SanType::Rfc822Name("a@example".try_into().unwrap());
    let error = sign_after(|params| params.subject_alt_names.push(mail), |_| {}).unwrap_err();
    assert!(matches!(&error, PkiError::Request(..)), "{error}");
    let certificate = sign_after(|params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained), |_| {}).unwrap();
    assert!(!certificate.is_authority(), "it asked to be an authority");
}
