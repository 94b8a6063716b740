//! Tests of the keys of members, with certificates of a real authority.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fabnet_core::peer::{Claim, Declaration, Incarnation, SealOrigin, SealScheme};
use fabnet_files::{Files, MemoryFiles};

use super::authority::Authority;
use super::environment::PkiEnvironment;
use super::error::PkiError;
use super::expulsion::{ExpulsionList, ExpulsionMistake};
use super::identity::NodeIdentity;
use super::member_keys::MemberKeys;
use super::validity::Validity;
use crate::clock::ManualClock;
use crate::config::{Config, Member, Tls};

/// The certificates of a run whose members `a`, `b` and `c` own the agents 0, 1 and 2.
struct Run {
    files: Arc<dyn Files>,
    clock: Arc<ManualClock>,
    authority: Authority,
}

impl Run {
    fn new(folder: &str) -> Self {
        let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
        let clock = Arc::new(ManualClock::default());
        let environment = PkiEnvironment { shared: files.clone(), secret: files.clone(), clock: clock.clone() };
        let authority = Authority::create_in(environment, Path::new(folder), Validity::OF_AUTHORITIES).unwrap();
        for name in ["a", "b", "c", "stranger"] {
            authority.issue(&NodeIdentity::new(name, Vec::new()).unwrap(), Validity::OF_NODES).unwrap();
        }
        Self { files, clock, authority }
    }

    fn config(name: &str) -> Config {
        let member = |(agent, name): (usize, &&str)| Member {
            name: (*name).into(),
            agents: vec![agent as u32],
            address: format!("{name}:1"),
            http: None,
        };
        let file = |kind: &str| format!("/pki/{name}.{kind}").into();
        let tls = Tls { ca: "/pki/ca.pem".into(), certificate: file("pem"), key: file("key") };
        Config { tls: Some(tls), ..Config::new("r", name, ["a", "b", "c"].iter().enumerate().map(member).collect()) }
    }

    fn keys(&self, name: &str) -> MemberKeys {
        MemberKeys::open(self.files.clone(), &Self::config(name)).unwrap().unwrap()
    }

    /// What the member of this name shows of itself.
    fn shown(&self, name: &str) -> Vec<Vec<u8>> {
        self.keys(name).certificates(std::iter::empty())
    }
}

fn life(node: u32) -> Declaration {
    Declaration { run: 7, node, incarnation: Incarnation { counter: 1, nonce: 2 }, claim: Claim::Lives }
}

#[test]
fn a_seal_counts_once_the_certificate_of_its_owner_was_shown() {
    let run = Run::new("/pki");
    let (a, b, c) = (run.keys("a"), run.keys("b"), run.keys("c"));
    let seal = b.seal(&life(1));
    assert_eq!(a.origin(&life(1), &seal), SealOrigin::Unknown, "nobody is blamed yet");
    assert!(!a.is_complete());
    a.learn(&run.shown("b")).unwrap();
    assert_eq!(a.origin(&life(1), &seal), SealOrigin::Owner);
    for forged in [c.seal(&life(1)), b.seal(&life(0)), b.seal(&Declaration { run: 8, ..life(1) }), vec![1; 64]] {
        assert_eq!(a.origin(&life(1), &forged), SealOrigin::Forged);
    }
    assert_eq!(a.origin(&life(0), &a.seal(&life(0))), SealOrigin::Owner, "its own");
    assert_eq!(a.origin(&life(9), &seal), SealOrigin::Unknown, "no such agent");
    a.learn(&b.certificates(["c", "nobody"].into_iter())).unwrap();
    assert!(!a.is_complete(), "b has not met c");
    b.learn(&run.shown("c")).unwrap();
    a.learn(&b.certificates(["c", "nobody"].into_iter())).unwrap();
    assert!(a.is_complete(), "whoever has met a member may show its certificate");
    assert_eq!(a.origin(&life(2), &c.seal(&life(2))), SealOrigin::Owner);
}

#[test]
fn certificates_that_are_not_of_a_member_are_refused() {
    let (run, other) = (Run::new("/pki"), Run::new("/pki"));
    let a = run.keys("a");
    let stranger = run.files.read(Path::new("/pki/stranger.pem")).unwrap();
    let stranger = pem::parse(stranger).unwrap().into_contents();
    for (shown, why) in [(other.shown("b"), "`b`"), (vec![stranger], "`stranger`"), (vec![vec![1; 9]], "unreadable")] {
        let error = a.learn(&shown).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let mut altered = run.shown("b");
    let middle = altered[0].len() / 2;
    altered[0][middle] ^= 1;
    assert!(a.learn(&altered).is_err());
    assert_eq!(a.origin(&life(1), &other.keys("b").seal(&life(1))), SealOrigin::Unknown);
    // What stands after a wrong one is not read.
    let mixed = [other.shown("b"), run.shown("c")].concat();
    assert!(a.learn(&mixed).is_err() && a.origin(&life(2), &run.keys("c").seal(&life(2))) == SealOrigin::Unknown);
}

#[test]
fn seals_of_a_key_count_after_its_certificate_was_renewed_and_after_the_key_was_replaced() {
    let run = Run::new("/pki");
    let (a, b) = (run.keys("a"), run.keys("b"));
    a.learn(&run.shown("b")).unwrap();
    let first = b.seal(&life(1));
    run.clock.advance(Duration::from_secs(60));
    run.authority.renew("b", Validity::OF_NODES).unwrap();
    a.learn(&run.shown("b")).unwrap();
    assert_eq!(a.certificates(["b"].into_iter()).len(), 2, "one of each: the older one was replaced");
    for name in ["pem", "key"] {
        run.files.remove(Path::new(&format!("/pki/b.{name}"))).unwrap();
    }
    run.authority.issue(&NodeIdentity::new("b", Vec::new()).unwrap(), Validity::OF_NODES).unwrap();
    b.renew().unwrap();
    assert_eq!(a.origin(&life(1), &b.seal(&life(1))), SealOrigin::Forged, "the new key was not shown yet");
    a.learn(&b.certificates(std::iter::empty())).unwrap();
    assert_eq!(a.origin(&life(1), &b.seal(&life(1))), SealOrigin::Owner);
    assert_eq!(a.origin(&life(1), &first), SealOrigin::Owner, "what was sealed stays true");
    // Whoever joins later learns both keys from their owner.
    let c = run.keys("c");
    c.learn(&b.certificates(std::iter::empty())).unwrap();
    assert_eq!(c.origin(&life(1), &first), SealOrigin::Owner);
}

#[test]
fn without_certificates_of_the_authority_there_are_no_seals() {
    let run = Run::new("/pki");
    let open = |config: &Config| MemberKeys::open(run.files.clone(), config);
    assert!(open(&Config { tls: None, ..Run::config("a") }).unwrap().is_none());
    let other = Run::new("/pki").files.read(Path::new("/pki/ca.pem")).unwrap();
    run.files.write_whole(Path::new("/pki/other.pem"), &other).unwrap();
    let mut foreign = Run::config("a");
    foreign.tls = foreign.tls.map(|tls| Tls { ca: "/pki/other.pem".into(), ..tls });
    assert!(open(&foreign).unwrap().is_none());
    run.files.write_whole(Path::new("/pki/a.key"), b"damaged").unwrap();
    assert!(matches!(open(&Run::config("a")), Err(PkiError::KeyKind(_))));
}

#[test]
fn a_list_counts_once_more_than_half_of_the_members_have_signed_it() {
    let (run, other) = (Run::new("/pki"), Run::new("/pki"));
    let [a, b] = ["a", "b"].map(|name| run.keys(name));
    let list_of = |names: &[&str]| ExpulsionList::new("c0".into(), 1, names.iter().map(|&name| name.into()).collect());
    let mut list = list_of(&["c"]);
    a.sign(&mut list);
    assert_eq!(b.check(&list, "c0"), Err(ExpulsionMistake::TooFew { signed: 1, members: 3 }));
    let alone = list.clone();
    b.sign(&mut list);
    assert_eq!(run.keys("c").check(&list, "c0"), Ok(()), "also for the one that it names");
    assert_eq!(a.check(&list, "c1"), Err(ExpulsionMistake::OtherRun("c0".into())));

    let mut twice = alone.clone();
    a.sign(&mut twice);
    let mut foreign = alone.clone();
    other.keys("b").sign(&mut foreign);
    let mut damaged = alone;
    b.sign(&mut damaged);
    let text = damaged.to_string();
    let last = text.rfind(|digit: char| digit.is_ascii_hexdigit()).unwrap();
    let digit = if text[last..].starts_with('0') { "1" } else { "0" };
    let damaged = ExpulsionList::read(&format!("{}{digit}{}", &text[..last], &text[last + 1..])).unwrap();
    for (list, what) in [(twice, "the same member twice"), (foreign, "another authority"), (damaged, "one digit")] {
        assert_eq!(a.check(&list, "c0"), Err(ExpulsionMistake::Signature(2)), "{what}");
    }
    // A signature is of one list: it does not count for others with more names or another number.
    let moved = list.to_string().replace("\"c\"", "\"b\"");
    let renumbered = list.to_string().replace("number = 1", "number = 2");
    for text in [moved, renumbered] {
        assert_eq!(a.check(&ExpulsionList::read(&text).unwrap(), "c0"), Err(ExpulsionMistake::Signature(1)));
    }
    assert_eq!(a.check(&list_of(&["stranger"]), "c0"), Err(ExpulsionMistake::NoMember("stranger".into())));
    assert_eq!(a.check(&list_of(&["b", "c"]), "c0"), Err(ExpulsionMistake::TooMany));
}
