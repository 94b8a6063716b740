//! Nodes that should not be listened to: refused, counted, and harmless.
#![cfg(feature = "net")]
#![allow(clippy::disallowed_methods, reason = "nodes live in time")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::fabnet;
use fabnet_core::Peer;
use fabnet_core::peer::{Effect, Event, Incarnation};
use fabnet_lab::{Experiment, Setup};
use fabnet_net::{Authority, Config, Inbox, Limits, Member, NodeStatus, Refusals, Tls, Transport, ZenohTransport, ask};

/// Two nodes that run, and the place of a third, whose certificate somebody else may have.
struct Stage {
    folder: tempfile::TempDir,
    members: Vec<Member>,
    https: Vec<String>,
    nodes: Vec<Child>,
}

const RUN: &str = "today";

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let experiment = "agents = 3\nrounds = 1_000_000\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n[topology]\nkind = \"complete\"\n\
             [network]\ntick = 0.05\n[[algorithm]]\nkind = \"dfab\"\nsteps = { x = 0.005, u = 0.005, z = 0.005 }\n";
        std::fs::write(folder.path().join("experiment.toml"), experiment).unwrap();
        let authority = Authority::create(&folder.path().join("pki")).unwrap();
        let ports = free_ports(6);
        let member = |place: usize| Member {
            name: ["alpha", "beta", "gamma"][place].to_owned(),
            agents: vec![place as u32],
            address: format!("127.0.0.1:{}", ports[place]),
        };
        let members: Vec<Member> = (0..3).map(member).collect();
        for name in ["alpha", "beta", "gamma", "stranger"] {
            authority.issue(name, &["127.0.0.1".to_owned()]).unwrap();
        }
        let https = ports[3..].iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let mut stage = Self { folder, members, https, nodes: Vec::new() };
        for place in 0..2 {
            let config = stage.config(place, RUN);
            stage.nodes.push(stage.start(&config));
        }
        stage.wait(|status| status.ready && status.agents[0].members == 2);
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, place: usize, run: &str) -> Config {
        let name = self.members[place].name.clone();
        let file = |name: String| self.path("pki").join(name);
        Config {
            run: run.to_owned(),
            plan: self.path("experiment.toml"),
            state: self.path(&name),
            http: self.https[place].parse().ok(),
            checkpoint: Duration::from_secs(1),
            linger: Duration::from_secs(60),
            loss: 0.0,
            limits: Limits::default(),
            tls: Some(Tls {
                ca: file("ca.pem".into()),
                certificate: file(format!("{name}.pem")),
                key: file(format!("{name}.key")),
            }),
            insecure: false,
            shared_memory: false,
            routers: Vec::new(),
            members: self.members.clone(),
            node: name,
        }
    }

    fn start(&self, config: &Config) -> Child {
        let file = self.path(&format!("{}.toml", config.node));
        std::fs::write(&file, config.to_toml()).unwrap();
        let log = std::fs::File::create(self.path(&format!("{}.log", config.node))).unwrap();
        fabnet(self.folder.path()).arg("node").arg(&file).stdin(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Asks the two nodes until both say so.
    fn wait(&self, until: impl Fn(&NodeStatus) -> bool) -> Vec<NodeStatus> {
        let start = Instant::now();
        loop {
            let statuses: Vec<NodeStatus> = self.https[..2].iter().filter_map(|http| ask(http).ok()).collect();
            if statuses.len() == 2 && statuses.iter().all(&until) {
                return statuses;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{statuses:#?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn logs(&self) -> String {
        let log = |name: &str| std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
        ["alpha", "beta", "gamma"].map(log).join("\n")
    }

    /// Both go on, alone, with books that balance.
    fn unharmed(&self) {
        let round = self.wait(|_| true)[0].agents[0].round;
        let later = self.wait(|status| status.agents[0].round > round + 20);
        for status in later {
            assert_eq!((status.agents[0].max_mass_residual, status.agents[0].members), (0, 2), "{status:#?}");
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            node.kill().unwrap();
            node.wait().unwrap();
        }
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> = (0..count).map(|_| std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

/// A session of somebody who says what he likes.
fn hostile(config: &Config) -> (ZenohTransport, Arc<Inbox>) {
    let (inbox, _inputs) = Inbox::new(config.limits, 1 << 26, Arc::new(Refusals::default()));
    (ZenohTransport::open(config, &inbox).unwrap(), inbox)
}

/// Says something again and again until a reason is counted by the first node.
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
    peer.meet([(0, Incarnation { counter: 1, nonce: 0 })]);
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
    // In the name of another agent: the access rules of the receiver.
    insist(&stage, "access", || gamma.send(1, 0, vec![1; 200]));
    // A key of its own, and another sender inside.
    let forged = message(&stage, 1, 7);
    insist(&stage, "forged", || gamma.send(2, 0, forged.clone()));
    // Yesterday's run.
    let replay = message(&stage, 2, 7);
    insist(&stage, "manifest", || gamma.send(2, 0, replay.clone()));
    // What looks like a message of this run, and is damaged.
    let plan = Experiment::read(&config.plan).unwrap().plan().unwrap();
    let mut damaged = message(&stage, 2, config.manifest(&plan.to_toml()).number());
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

/// Starts a node that is not to be let in; says what it said.
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
    // A certificate of the right authority, for a name that no list has.
    let mut stranger = stage.config(2, RUN);
    stranger.node = "stranger".into();
    stranger.members[2].name = "stranger".into();
    let certificate = |name: &str| stage.path("pki").join(name);
    stranger.tls = Some(Tls {
        ca: certificate("ca.pem"),
        certificate: certificate("stranger.pem"),
        key: certificate("stranger.key"),
    });
    let said = not_admitted(&stage, &stranger);
    assert!(said.contains("not admitted"), "{said}");

    // Another authority.
    let mut foreign = stage.config(2, RUN);
    Authority::create(&stage.path("foreign")).unwrap().issue("gamma", &["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str| -> PathBuf { Path::new(&stage.path("foreign")).join(name) };
    foreign.tls = Some(Tls { ca: file("ca.pem"), certificate: file("gamma.pem"), key: file("gamma.key") });
    let said = not_admitted(&stage, &foreign);
    assert!(said.contains("not admitted"), "{said}");
    let refused = stage.wait(|_| true);
    assert!(refused.iter().any(|status| status.refused["certificate"] > 0), "{refused:#?}\n{}", stage.logs());

    // Another plan.
    let mut other = stage.config(2, RUN);
    let text = std::fs::read_to_string(&other.plan).unwrap().replace("1_000_000", "999_999");
    other.plan = stage.path("other.toml");
    std::fs::write(&other.plan, text).unwrap();
    let said = not_admitted(&stage, &other);
    assert!(said.contains("another manifest"), "{said}");
    stage.unharmed();
}
