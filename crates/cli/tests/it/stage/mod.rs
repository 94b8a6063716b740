//! Real nodes to try things with.
#![allow(dead_code, clippy::disallowed_methods, reason = "nodes live in time, and not every test takes all of this")]

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fabnet_net::{Authority, Config, Member, NodeIdentity, NodeStatus, Tls, Validity, ask};

use crate::common::{fabnet, free_ports};

/// Two nodes that run, and the place of a third, whose certificate somebody else may have.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) members: Vec<Member>,
    pub(crate) https: Vec<String>,
    pub(crate) nodes: Vec<Child>,
}

pub(crate) const RUN: &str = "today";

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let experiment = "agents = 3\nrounds = 1_000_000\nseeds = 1\n[problem]\nkind = \"policy-evaluation\"\n[topology]\nkind = \"complete\"\n\
             [network]\ntick = 0.05\nstart = 2\n[[algorithm]]\nkind = \"dfab\"\nsteps = { x = 0.005, u = 0.005, z = 0.005 }\n";
        std::fs::write(folder.path().join("experiment.toml"), experiment).unwrap();
        let authority = Authority::create(&folder.path().join("pki"), Validity::OF_AUTHORITIES).unwrap();
        let ports = free_ports(6);
        let member = |place: usize| Member {
            name: ["alpha", "beta", "gamma"][place].to_owned(),
            agents: vec![place as u32],
            address: format!("127.0.0.1:{}", ports[place]),
            http: None,
        };
        let members: Vec<Member> = (0..3).map(member).collect();
        for name in ["alpha", "beta", "gamma", "stranger"] {
            let node = NodeIdentity::new(name, vec!["127.0.0.1".to_owned()]).unwrap();
            authority.issue(&node, Validity::OF_NODES).unwrap();
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn config(&self, place: usize, run: &str) -> Config {
        let name = self.members[place].name.clone();
        let file = |name: String| self.path("pki").join(name);
        Config {
            plan: self.path("experiment.toml"),
            state: self.path(&name),
            http: self.https[place].parse().ok(),
            checkpoint: Duration::from_secs(1),
            linger: Duration::from_secs(60),
            tls: Some(Tls {
                ca: file("ca.pem".into()),
                certificate: file(format!("{name}.pem")),
                key: file(format!("{name}.key")),
            }),
            ..Config::new(run, &name, self.members.clone())
        }
    }

    pub(crate) fn start(&self, config: &Config) -> Child {
        let file = self.path(&format!("{}.toml", config.node));
        std::fs::write(&file, config.to_toml()).unwrap();
        let log = std::fs::File::create(self.path(&format!("{}.log", config.node))).unwrap();
        fabnet(self.folder.path()).arg("node").arg(&file).stdin(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Asks the two nodes until both say so.
    pub(crate) fn wait(&self, until: impl Fn(&NodeStatus) -> bool) -> Vec<NodeStatus> {
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

    pub(crate) fn logs(&self) -> String {
        let log = |name: &str| std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
        ["alpha", "beta", "gamma"].map(log).join("\n")
    }

    /// Both go on, alone, with books that balance.
    pub(crate) fn unharmed(&self) {
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
