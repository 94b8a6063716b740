//! Messages and nodes that must be refused: they are counted and do no harm.
#![cfg(feature = "net")]
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation, Table};
use fabnet_lab::{Experiment, Setup};
use fabnet_net::{
    Authority, Config, Inbox, NodeIdentity, Refusals, SystemClock, Tls, Transport, Validity, ZenohTransport, ask,
};

use crate::stage::{RUN, Stage};

/// Opens a session that can send any message.
fn hostile(config: &Config) -> (ZenohTransport, Arc<Inbox>) {
    let (inbox, _inputs) =
        Inbox::new(config.limits, 1 << 26, Arc::new(Refusals::default()), Arc::new(SystemClock::default()));
    (ZenohTransport::open(config, &inbox).unwrap(), inbox)
}

/// Sends something again and again until the first node counts refusals for this reason.
fn insist(stage: &Stage, reason: &str, mut speak: impl FnMut()) {
    let start = Instant::now();
    while ask(&stage.https[0]).is_ok_and(|status| status.refused[reason] < 5) {
        speak();
        assert!(start.elapsed() < Duration::from_secs(20), "nothing was refused for `{reason}`\n{}", stage.logs());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The first message of an agent in a run of this number.
fn message(stage: &Stage, agent: u32, run: u64) -> Vec<u8> {
    let plan = Experiment::read(&stage.path("experiment.toml")).unwrap().plan().unwrap();
    let (group, seed) = plan.runs().next().unwrap();
    let task = Setup::<f64>::new(group, seed).unwrap().task(agent, run, 1);
    let mut peer = Peer::new(task, Incarnation { counter: 1 << 50, nonce: 7 }, 0, None);
    let agents = peer.table().nodes();
    peer.meet(&Table::of_living(agents, [(0, Incarnation { counter: 1, nonce: 0 })]));
    let mut effects = Vec::new();
    peer.handle(Event::Stored { ticket: 0, safe: true }, &mut effects);
    let to_first = |effect| if let Effect::Send { to: 0, bytes } = effect { Some(bytes) } else { None };
    effects.into_iter().find_map(to_first).unwrap()
}

#[test]
fn a_member_that_says_wrong_things_is_refused() {
    let stage = Stage::new();
    let config = stage.config(2, RUN);
    let (gamma, _inbox) = hostile(&config);
    insist(&stage, "oversized", || gamma.send(2, 0, vec![0; 1 << 20]));
    // A message under the key of another agent is refused by the access rules of the receiver.
    insist(&stage, "access", || gamma.send(1, 0, vec![1; 200]));
    // A message under its own key that names another sender.
    let forged = message(&stage, 1, 7);
    insist(&stage, "forged", || gamma.send(2, 0, forged.clone()));
    // A message of another run.
    let replay = message(&stage, 2, 7);
    insist(&stage, "manifest", || gamma.send(2, 0, replay.clone()));
    // A damaged message of this run does not count as a sign of life.
    let plan = Experiment::read(&config.plan).unwrap().plan().unwrap();
    let mut damaged = message(&stage, 2, config.run_digest(&plan.text_of_digest(), true).number());
    damaged[40] ^= 1;
    let malformed = || ask(&stage.https[0]).unwrap().agents[0].messages["malformed"];
    let start = Instant::now();
    while malformed() < 5 {
        gamma.send(2, 0, damaged.clone());
        assert!(start.elapsed() < Duration::from_secs(20), "a damaged message was not refused");
        std::thread::sleep(Duration::from_millis(100));
    }
    gamma.close();
    stage.unharmed();
}

/// Starts a node that must be refused, and returns its log.
fn not_admitted(stage: &Stage, config: &Config) -> String {
    let start = Instant::now();
    let mut node = stage.start(config);
    let code = loop {
        if let Some(code) = node.try_wait().unwrap() {
            break code;
        }
        if start.elapsed() > Duration::from_secs(15) {
            node.kill().unwrap();
            panic!("it did not end\n{}", stage.logs());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(start.elapsed() < Duration::from_secs(11), "it said so after {:?}", start.elapsed());
    assert_eq!(code.code(), Some(1));
    std::fs::read_to_string(stage.path(&format!("{}.log", config.node))).unwrap()
}

#[test]
fn who_is_not_admitted_says_so_within_ten_seconds() {
    let stage = Stage::new();
    // A certificate of the right authority, for a name that is not in the list of members.
    let mut stranger = stage.config(2, RUN);
    stranger.node = "stranger".into();
    stranger.members[2].name = "stranger".into();
    stranger.state = stage.path("stranger");
    let certificate = |name: &str| stage.path("pki").join(name);
    stranger.tls = Some(Tls {
        ca: certificate("ca.pem"),
        certificate: certificate("stranger.pem"),
        key: certificate("stranger.key"),
    });
    let said = not_admitted(&stage, &stranger);
    assert!(said.contains("not admitted"), "{said}");

    // A certificate of another authority.
    let mut foreign = stage.config(2, RUN);
    let gamma = NodeIdentity::new("gamma", vec!["127.0.0.1".to_owned()]).unwrap();
    let authority = Authority::create(&stage.path("foreign"), Validity::OF_AUTHORITIES).unwrap();
    authority.issue(&gamma, Validity::OF_NODES).unwrap();
    let file = |name: &str| stage.path("foreign").join(name);
    foreign.tls = Some(Tls { ca: file("ca.pem"), certificate: file("gamma.pem"), key: file("gamma.key") });
    let said = not_admitted(&stage, &foreign);
    assert!(said.contains("not admitted"), "{said}");
    let refused = stage.wait(|_| true);
    assert!(refused.iter().any(|status| status.refused["certificate"] > 0), "{refused:#?}\n{}", stage.logs());

    // The certificate of another member does not allow it to send or receive under its own name.
    let mut borrowed = stage.config(2, RUN);
    borrowed.tls =
        Some(Tls { ca: certificate("ca.pem"), certificate: certificate("beta.pem"), key: certificate("beta.key") });
    let said = not_admitted(&stage, &borrowed);
    assert!(said.contains("not admitted"), "{said}");

    // A node with another plan.
    let mut other = stage.config(2, RUN);
    let text = std::fs::read_to_string(&other.plan).unwrap().replace("1_000_000", "999_999");
    other.plan = stage.path("other.toml");
    other.state = stage.path("other");
    std::fs::write(&other.plan, text).unwrap();
    let said = not_admitted(&stage, &other);
    assert!(said.contains("another manifest"), "{said}");
    stage.unharmed();
}
