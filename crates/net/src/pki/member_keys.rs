//! The keys of the members of a run: a node seals with its own, and checks the seals of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fabnet_core::peer::{Declaration, SealOrigin, SealScheme};
use fabnet_files::Files;

use super::certificate::Certificate;
use super::error::PkiError;
use super::expulsion::{ExpulsionList, ExpulsionMistake};
use super::signing::{SIGNATURE, SigningKey, VerifyingKey};
use crate::config::{Config, Member, Tls};

/// What a node knows of the keys of all members.
///
/// A member's key is that of its certificate, which it shows in a greeting; whoever has met it may
/// show it as well, since the authority of the run has signed it. A key counts for as long as the
/// run lasts, whatever the dates of its certificate are: what was sealed with it stays true. The
/// dates are checked where connections are opened.
pub struct MemberKeys {
    files: Arc<dyn Files>,
    tls: Tls,
    /// The name of the member that owns each agent.
    owners: BTreeMap<u32, String>,
    names: BTreeSet<String>,
    /// The name of this node.
    me: String,
    authority: Certificate,
    known: Mutex<KnownKeys>,
}

struct KnownKeys {
    /// The key by which this node seals.
    own: SigningKey,
    /// The certificates of each member with different keys, the newest last.
    certificates: BTreeMap<String, Vec<KnownCertificate>>,
}

struct KnownCertificate {
    certificate: Certificate,
    key: VerifyingKey,
}

/// A certificate that is not of a member of the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it shows a certificate that is not of a member of this run: `{0}`")]
pub(crate) struct ForeignCertificate(String);

impl MemberKeys {
    /// The keys of a member that are remembered: certificates are renewed for the same key, so
    /// that another one is rare.
    pub(crate) const KEYS: usize = 4;

    /// Reads the own key and certificate of a node. None if there can be no seals: the node does
    /// without certificates, or others than the authority itself have issued them.
    pub fn open(files: Arc<dyn Files>, config: &Config) -> Result<Option<Self>, PkiError> {
        let Some(tls) = &config.tls else { return Ok(None) };
        let authority = Certificate::read(&*files, &tls.ca)?;
        let own = Certificate::read(&*files, &tls.certificate)?;
        if !own.is_issued_by(&authority) {
            return Ok(None);
        }
        let known = KnownKeys { own: read_key(&*files, tls, &own)?, certificates: BTreeMap::new() };
        let owned =
            |member: &Member| member.agents.iter().map(|&agent| (agent, member.name.clone())).collect::<Vec<_>>();
        let owners = config.members.iter().flat_map(owned).collect();
        let names = config.members.iter().map(|member| member.name.clone()).collect();
        let (me, tls, known) = (config.node.clone(), tls.clone(), Mutex::new(known));
        let keys = Self { files, tls, owners, names, me, authority, known };
        keys.keep(own);
        Ok(Some(keys))
    }

    /// Takes over the own key and certificate from their files, which have changed.
    pub(crate) fn renew(&self) -> Result<(), PkiError> {
        let own = Certificate::read(&*self.files, &self.tls.certificate)?;
        let key = read_key(&*self.files, &self.tls, &own)?;
        self.lock().own = key;
        self.keep(own);
        Ok(())
    }

    /// Takes in certificates that another node shows. One that is not of a member ends it: whoever
    /// shows it has made it up, or is of another run.
    pub(crate) fn learn(&self, certificates: &[Vec<u8>]) -> Result<(), ForeignCertificate> {
        for der in certificates.iter().filter(|der| !self.knows(der)) {
            let shown = Certificate::from_der(der, Path::new("greeting"));
            let shown = shown.map_err(|_| ForeignCertificate("unreadable".to_owned()))?;
            if !self.is_of_member(&shown) || !self.keep(shown.clone()) {
                return Err(ForeignCertificate(shown.name().escape_debug().to_string()));
            }
            tracing::debug!(member = shown.name(), key = shown.fingerprint(), "knows the key of a member");
        }
        Ok(())
    }

    /// Whether the key of every member is known.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().certificates.len() == self.names.len()
    }

    /// The certificates to show: those of this node, and of these members where they are known.
    pub(crate) fn certificates<'a>(&'a self, others: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
        let known = self.lock();
        let of = |name: &str| known.certificates.get(name).into_iter().flatten();
        let shown = [self.me.as_str()].into_iter().chain(others).flat_map(of);
        shown.map(|known| known.certificate.der().to_vec()).collect()
    }

    /// Adds the signature of this node to a list of expelled members.
    pub fn sign(&self, list: &mut ExpulsionList) {
        let known = self.lock();
        let newest = known.certificates.get(&self.me).and_then(|own| own.last());
        if let (Some(own), Some(signature)) = (newest, known.own.sign(&list.bytes())) {
            list.add_signature(own.certificate.der(), &signature);
        }
    }

    /// The members that have signed a list of a run, if nothing else is wrong with it. The first
    /// wrong signature ends it, so that a made-up list costs little.
    pub fn signers(&self, list: &ExpulsionList, run: &str) -> Result<BTreeSet<String>, ExpulsionMistake> {
        if list.run() != run {
            return Err(ExpulsionMistake::OtherRun(list.run().escape_debug().to_string()));
        }
        if let Some(stranger) = list.expelled().difference(&self.names).next() {
            return Err(ExpulsionMistake::NoMember(stranger.escape_debug().to_string()));
        }
        if 2 * list.expelled().len() >= self.names.len() {
            return Err(ExpulsionMistake::TooMany);
        }
        let (bytes, mut signers) = (list.bytes(), BTreeSet::new());
        for (place, signed) in list.signatures().enumerate() {
            let signer = signed.and_then(|(certificate, signature)| self.signer(&bytes, &certificate, &signature));
            if !signer.is_some_and(|signer| signers.insert(signer)) {
                return Err(ExpulsionMistake::Signature(place + 1));
            }
        }
        Ok(signers)
    }

    /// Whether a list of a run counts: more than half of all members have signed it.
    pub fn check(&self, list: &ExpulsionList, run: &str) -> Result<(), ExpulsionMistake> {
        let (signed, members) = (self.signers(list, run)?.len(), self.names.len());
        if 2 * signed > members { Ok(()) } else { Err(ExpulsionMistake::TooFew { signed, members }) }
    }

    /// The member whose certificate this is and who has signed these bytes.
    fn signer(&self, bytes: &[u8], certificate: &[u8], signature: &[u8]) -> Option<String> {
        let certificate = Certificate::from_der(certificate, Path::new("list")).ok()?;
        let key = VerifyingKey::read(certificate.public_key())?;
        let is_signed = self.is_of_member(&certificate) && key.verifies(bytes, signature);
        is_signed.then(|| certificate.name().to_owned())
    }

    /// Whether the authority of the run has issued a certificate to one of its members.
    fn is_of_member(&self, certificate: &Certificate) -> bool {
        self.names.contains(certificate.name()) && certificate.is_issued_by(&self.authority)
    }

    fn knows(&self, der: &[u8]) -> bool {
        let known = self.lock();
        known.certificates.values().flatten().any(|known| known.certificate.der() == der)
    }

    /// Remembers a certificate in place of an older one with the same key; false if its key cannot
    /// seal anything.
    fn keep(&self, certificate: Certificate) -> bool {
        let Some(key) = VerifyingKey::read(certificate.public_key()) else { return false };
        let mut known = self.lock();
        let of_member = known.certificates.entry(certificate.name().to_owned()).or_default();
        let newer = |known: &KnownCertificate| known.certificate.validity().from > certificate.validity().from;
        let same = of_member.iter().position(|known| known.certificate.public_key() == certificate.public_key());
        if same.is_some_and(|place| newer(&of_member[place])) {
            return true;
        }
        same.map(|place| of_member.remove(place));
        of_member.push(KnownCertificate { certificate, key });
        of_member.sort_by_key(|known| known.certificate.validity().from);
        if of_member.len() > Self::KEYS {
            of_member.remove(0);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, KnownKeys> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the private key of a node, which must be that of its certificate.
fn read_key(files: &dyn Files, Tls { certificate, key, .. }: &Tls, own: &Certificate) -> Result<SigningKey, PkiError> {
    let pem = files.read(key).map_err(|error| PkiError::File(key.clone(), error))?;
    let found = SigningKey::read(&pem).ok_or_else(|| PkiError::KeyKind(key.clone()))?;
    if own.has_key(&pem) {
        Ok(found)
    } else {
        Err(PkiError::OtherKey { certificate: certificate.clone(), key: key.clone() })
    }
}

impl SealScheme for MemberKeys {
    fn length(&self) -> usize {
        SIGNATURE
    }

    fn seal(&self, declaration: &Declaration) -> Vec<u8> {
        // Without random numbers there is no seal, and others wait for one.
        self.lock().own.sign(&declaration.bytes()).unwrap_or_default()
    }

    fn origin(&self, declaration: &Declaration, seal: &[u8]) -> SealOrigin {
        let known = self.lock();
        let certificates = self.owners.get(&declaration.node).and_then(|owner| known.certificates.get(owner));
        let Some(certificates) = certificates else { return SealOrigin::Unknown };
        let bytes = declaration.bytes();
        let is_sealed = certificates.iter().any(|known| known.key.verifies(&bytes, seal));
        if is_sealed { SealOrigin::Owner } else { SealOrigin::Forged }
    }
}

/// Names the node only: keys are nobody's business.
impl fmt::Debug for MemberKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberKeys").field("me", &self.me).finish_non_exhaustive()
    }
}
