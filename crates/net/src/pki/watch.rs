//! The certificates of a node while it runs: when they expire, and whether their files change.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_files::Files;

use super::certificate::Certificate;
use super::error::PkiError;
use super::identity::NodeIdentity;
use super::news::{CertificateExpiry, CertificateNews};
use super::validity::moment;
use crate::config::Tls;

/// Watches the certificate of a node and that of its authority. It is told the time, and reads the
/// files only now and then.
#[derive(Debug)]
pub struct CertificateWatch {
    files: Arc<dyn Files>,
    tls: Tls,
    pair: CertificatePair,
    /// The contents of both files, as they were last read: certificate and authority.
    contents: [Vec<u8>; 2],
    /// The time at which the files are read next.
    next_look: Duration,
    /// The days that were left at the last warning.
    warned: Option<i64>,
}

/// The certificate of a node, and that of its authority.
#[derive(Clone, Debug)]
struct CertificatePair {
    own: Certificate,
    authority: Certificate,
}

impl CertificateWatch {
    /// The days before the end at which warnings begin; there is one a day.
    const WARNING_DAYS: i64 = 14;
    /// The time between two looks at the files.
    const LOOK_EVERY: Duration = Duration::from_secs(10);

    /// Reads the certificates of a node that starts at this time. One that is not valid is refused:
    /// others would not let the node in, and would not say why.
    pub fn open(files: Arc<dyn Files>, tls: &Tls, unix_time: Duration) -> Result<Self, PkiError> {
        let contents = read(&*files, tls)?;
        let pair = CertificatePair::parse(&contents, tls)?;
        pair.check(unix_time)?;
        let next_look = Duration::ZERO;
        Ok(Self { files, tls: tls.clone(), pair, contents, next_look, warned: None })
    }

    /// The first of the certificates to expire.
    pub fn expiry(&self, unix_time: Duration) -> CertificateExpiry {
        self.pair.expiry(unix_time)
    }

    /// What there is to know now: of the files, if it is time for a look at them, and of the days
    /// that are left. `now` is the time of a clock that never goes back.
    pub fn look(&mut self, now: Duration, unix_time: Duration) -> Vec<CertificateNews> {
        if now < self.next_look {
            return Vec::new();
        }
        self.next_look = now + Self::LOOK_EVERY;
        let mut news = Vec::new();
        // A file that is just being replaced is there at the next look.
        if let Ok(contents) = read(&*self.files, &self.tls)
            && contents != self.contents
        {
            news.push(self.take(&contents, unix_time));
            self.contents = contents;
        }
        let expiry = self.expiry(unix_time);
        if expiry.days_left < Self::WARNING_DAYS && self.warned != Some(expiry.days_left) {
            self.warned = Some(expiry.days_left);
            news.push(CertificateNews::Expires(expiry));
        }
        news
    }

    /// Takes over what the files hold, if it can be used.
    fn take(&mut self, contents: &[Vec<u8>; 2], unix_time: Duration) -> CertificateNews {
        match self.usable(contents, unix_time) {
            Err(error) => CertificateNews::Unusable(error),
            Ok(pair) => {
                let needs_connection = pair.differs_for_others(&self.pair);
                self.pair = pair;
                self.warned = None;
                let until = moment(self.expiry(unix_time).until);
                CertificateNews::Renewed { until, needs_connection }
            }
        }
    }

    /// The certificates that the files hold, if others will accept them as those of this node.
    fn usable(&self, contents: &[Vec<u8>; 2], unix_time: Duration) -> Result<CertificatePair, PkiError> {
        let pair = CertificatePair::parse(contents, &self.tls)?;
        pair.check(unix_time)?;
        let key = self.files.read(&self.tls.key).map_err(|error| PkiError::File(self.tls.key.clone(), error))?;
        if !pair.own.has_key(&key) {
            return Err(PkiError::OtherKey { certificate: self.tls.certificate.clone(), key: self.tls.key.clone() });
        }
        let (name, found) = (self.pair.own.name(), pair.own.name());
        // An authority above that of the run is nothing that this node can follow.
        let is_foreign = self.pair.is_complete() && !pair.is_complete();
        if name != found || is_foreign {
            let (name, found) = (name.to_owned(), found.to_owned());
            return Err(PkiError::Foreign { path: self.tls.certificate.clone(), name, found });
        }
        Ok(pair)
    }
}

/// The contents of both files.
fn read(files: &dyn Files, tls: &Tls) -> Result<[Vec<u8>; 2], PkiError> {
    let read = |path: &Path| files.read(path).map_err(|error| PkiError::File(path.to_owned(), error));
    Ok([read(&tls.certificate)?, read(&tls.ca)?])
}

impl CertificatePair {
    fn parse([own, authority]: &[Vec<u8>; 2], tls: &Tls) -> Result<Self, PkiError> {
        Ok(Self { own: Certificate::parse(own, &tls.certificate)?, authority: Certificate::parse(authority, &tls.ca)? })
    }

    /// Whether the authority itself has issued the certificate of the node.
    fn is_complete(&self) -> bool {
        self.own.is_issued_by(&self.authority)
    }

    /// Whether others see other certificates, or are judged by another key, than with those before.
    fn differs_for_others(&self, before: &Self) -> bool {
        self.own != before.own || self.authority.fingerprint() != before.authority.fingerprint()
    }

    /// Both certificates, each with the name by which it is renewed.
    fn named(&self) -> [(&Certificate, &str); 2] {
        [(&self.own, self.own.name()), (&self.authority, NodeIdentity::AUTHORITY)]
    }

    /// An error if one of them is not valid at this time.
    fn check(&self, unix_time: Duration) -> Result<(), PkiError> {
        for (certificate, name) in self.named() {
            let (path, validity) = (certificate.path().to_owned(), certificate.validity());
            if validity.is_over(unix_time) {
                return Err(PkiError::Expired { path, name: name.to_owned(), validity });
            }
            if validity.is_to_come(unix_time) {
                return Err(PkiError::ToCome { path, validity, now: moment(unix_time) });
            }
        }
        Ok(())
    }

    fn expiry(&self, unix_time: Duration) -> CertificateExpiry {
        let [own, authority] = self.named();
        let (first, name) = if authority.0.validity().until < own.0.validity().until { authority } else { own };
        CertificateExpiry {
            path: first.path().display().to_string(),
            name: name.to_owned(),
            until: first.validity().until,
            days_left: first.validity().days_left(unix_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use fabnet_files::MemoryFiles;

    use super::super::authority::Authority;
    use super::super::environment::PkiEnvironment;
    use super::super::validity::Validity;
    use super::*;
    use crate::clock::{Clock, ManualClock};

    /// A node with certificates, its authority, and the clock of both.
    struct Site {
        files: Arc<dyn Files>,
        clock: Arc<ManualClock>,
        authority: Authority,
        tls: Tls,
    }

    fn site() -> Site {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let clock = Arc::new(ManualClock::default());
        let authority = authority(&files, &clock, "/pki");
        let node = NodeIdentity::new("alpha", Vec::new()).unwrap();
        let (certificate, key) = authority.issue(&node, Validity::OF_NODES).unwrap();
        let tls = Tls { ca: "/pki/ca.pem".into(), certificate: certificate.path().to_owned(), key };
        Site { files, clock, authority, tls }
    }

    fn authority(files: &Arc<dyn Files>, clock: &Arc<ManualClock>, folder: &str) -> Authority {
        let environment = PkiEnvironment { shared: files.clone(), secret: files.clone(), clock: clock.clone() };
        Authority::create_in(environment, Path::new(folder), Validity::OF_AUTHORITIES).unwrap()
    }

    impl Site {
        fn open(&self) -> Result<CertificateWatch, PkiError> {
            CertificateWatch::open(self.files.clone(), &self.tls, self.clock.unix_time())
        }

        fn look(&self, watch: &mut CertificateWatch) -> Vec<CertificateNews> {
            watch.look(self.clock.now(), self.clock.unix_time())
        }

        /// Looks for this long, once a second.
        fn look_for(&self, watch: &mut CertificateWatch, seconds: u64) -> Vec<CertificateNews> {
            (0..seconds)
                .flat_map(|_| {
                    self.clock.advance(Duration::from_secs(1));
                    self.look(watch)
                })
                .collect()
        }
    }

    #[test]
    fn certificates_that_are_not_valid_are_refused_with_their_dates_and_what_to_do() {
        let site = site();
        assert!(site.open().is_ok());
        site.clock.advance(Validity::OF_NODES + Duration::from_secs(1));
        let error = site.open().unwrap_err().to_string();
        assert!(
            error.starts_with("/pki/alpha.pem: ") && error.contains("2023-11-14T21:13:20Z to 2024-02-12T22:13:20Z"),
            "{error}"
        );
        assert!(error.contains("`fabnet pki renew FOLDER alpha`"), "{error}");
        site.authority.renew("alpha", Validity::days(3650)).unwrap();
        assert!(site.open().is_ok());
        site.clock.advance(Validity::OF_AUTHORITIES.saturating_sub(Validity::OF_NODES));
        // The authority's ends at the same moment, which was the last one that it could give.
        let error = site.open().unwrap_err().to_string();
        assert!(error.contains("alpha.pem"), "{error}");
        site.authority.renew_itself(Validity::days(10)).unwrap();
        site.authority.renew("alpha", Validity::days(10)).unwrap();
        site.authority.renew_itself(Validity::days(1)).unwrap();
        site.clock.advance(Validity::days(2));
        let error = site.open().unwrap_err().to_string();
        assert!(error.starts_with("/pki/ca.pem: ") && error.contains("`fabnet pki renew FOLDER ca`"), "{error}");
    }

    #[test]
    fn a_clock_that_is_behind_is_named() {
        let site = site();
        let early = site.clock.unix_time().saturating_sub(Duration::from_secs(7200));
        let error = CertificateWatch::open(site.files.clone(), &site.tls, early).unwrap_err().to_string();
        assert!(error.contains("is not valid yet") && error.contains("2023-11-14T20:13:20Z"), "{error}");
    }

    #[test]
    fn warnings_begin_fourteen_days_before_the_end_and_come_once_a_day() {
        let site = site();
        let mut watch = site.open().unwrap();
        site.clock.advance(Validity::days(76));
        assert!(site.look(&mut watch).is_empty(), "14 days are left");
        let mut days = Vec::new();
        for _ in 0..5 * 24 {
            site.clock.advance(Duration::from_secs(3600));
            days.extend(site.look(&mut watch).into_iter().map(|news| match news {
                CertificateNews::Expires(expiry) => expiry.days_left,
                other => panic!("{other:?}"),
            }));
        }
        assert_eq!(days, [13, 12, 11, 10, 9]);
        site.clock.advance(Validity::days(9) + Duration::from_secs(1));
        let said = match &site.look(&mut watch)[..] {
            [CertificateNews::Expires(expiry)] => expiry.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(said.contains("/pki/alpha.pem has expired on 2024-02-12T22:13:20Z"), "{said}");
    }

    #[test]
    fn files_are_read_every_ten_seconds_and_a_new_certificate_is_taken_over() {
        let site = site();
        let mut watch = site.open().unwrap();
        assert!(site.look_for(&mut watch, 60).is_empty(), "nothing has changed");
        // The files are read now, and not before ten seconds have passed.
        site.look_for(&mut watch, 1);
        let renewed = site.authority.renew("alpha", Validity::days(200)).unwrap();
        assert!(site.look_for(&mut watch, 9).is_empty());
        let news = site.look_for(&mut watch, 1);
        assert!(matches!(&news[..], [CertificateNews::Renewed { needs_connection: true, .. }]), "{news:?}");
        assert_eq!(watch.expiry(site.clock.unix_time()).until, renewed.validity().until);
        assert!(site.look_for(&mut watch, 60).is_empty(), "it is said once");
        site.authority.renew_itself(Validity::days(7)).unwrap();
        let news = site.look_for(&mut watch, 10);
        assert!(matches!(&news[0], CertificateNews::Renewed { needs_connection: false, .. }), "{news:?}");
        assert!(matches!(&news[1], CertificateNews::Expires(expiry) if expiry.name == "ca"), "{news:?}");
    }

    #[test]
    fn what_others_would_refuse_is_not_taken_over() {
        let site = site();
        let mut watch = site.open().unwrap();
        let before = watch.expiry(site.clock.unix_time());
        let other = authority(&site.files, &site.clock, "/other");
        let node = |name| NodeIdentity::new(name, Vec::new()).unwrap();
        other.issue(&node("alpha"), Validity::OF_NODES).unwrap();
        site.authority.issue(&node("beta"), Validity::OF_NODES).unwrap();
        let copy = |from: &str, to: &Path| site.files.write(to, &site.files.read(Path::new(from)).unwrap()).unwrap();
        let mut expect = |says: &str| {
            let news = site.look_for(&mut watch, 10);
            assert!(
                matches!(&news[..], [CertificateNews::Unusable(error)] if error.to_string().contains(says)),
                "{news:?}"
            );
            assert!(site.look_for(&mut watch, 60).is_empty(), "it is said once");
            assert_eq!(watch.expiry(site.clock.unix_time()).until, before.until);
        };
        copy("/pki/beta.pem", &site.tls.certificate);
        expect("/pki/alpha.key is not the key of /pki/alpha.pem");
        copy("/pki/beta.key", &site.tls.key);
        site.files.append(&site.tls.certificate, b"\n").unwrap();
        expect("it is for `beta`");
        copy("/other/alpha.pem", &site.tls.certificate);
        copy("/other/alpha.key", &site.tls.key);
        expect("not the certificate that this authority has issued");
        site.files.write(&site.tls.certificate, b"half of a cert").unwrap();
        expect("no certificate");
        // A file that is away for a moment is no news.
        site.files.remove(&site.tls.certificate).unwrap();
        assert!(site.look_for(&mut watch, 30).is_empty());
    }
}
