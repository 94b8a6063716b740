//! What a node is told: `node.toml`.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// One node of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of the run, the same for all nodes and never used before: messages of other runs are refused.
    pub run: String,
    /// Which of the members this is, or which of the routers.
    pub node: String,
    /// The experiment, the same for all; a router needs none.
    #[serde(default)]
    pub plan: PathBuf,
    /// Where this node keeps its life, checkpoints and records; a router keeps nothing.
    #[serde(default)]
    pub state: PathBuf,
    /// Where this node's data is: with `data = "own"` in the plan, `own/AGENT.safetensors` of its own agents, and of nobody else; where it is looked for otherwise if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Where metrics and status are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<SocketAddr>,
    /// The time between two checkpoints.
    #[serde(default = "checkpoint", with = "time")]
    pub checkpoint: Duration,
    /// How long a node that is done goes on answering others.
    #[serde(default = "linger", with = "time")]
    pub linger: Duration,
    /// The part of all messages that is lost on purpose.
    #[serde(default)]
    pub loss: f64,
    /// What one neighbour can take up.
    #[serde(default)]
    pub limits: Limits,
    /// Certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Plain TCP: everybody on the network can read, forge and join.
    #[serde(default)]
    pub insecure: bool,
    /// Shared memory between nodes of one host.
    #[serde(default)]
    pub shared_memory: bool,
    /// All nodes of the run.
    #[serde(rename = "member")]
    pub members: Vec<Member>,
    /// Who carries messages between nodes that cannot reach each other, the nearest first. If there are any, a member connects to one of them and to nobody else.
    #[serde(default, rename = "router", skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<Router>,
}

/// A node that owns no agent and carries messages. Members trust it: it could forge what it carries.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// Its name, and the common name of its certificate.
    pub name: String,
    /// Where it listens: host and port.
    pub address: String,
}

/// A node of the run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its name, and the common name of its certificate.
    pub name: String,
    /// The agents that it owns.
    pub agents: Vec<u32>,
    /// Where it listens: host and port.
    pub address: String,
}

/// Files in PEM form.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The run's authority.
    pub ca: PathBuf,
    /// This node's certificate.
    pub certificate: PathBuf,
    /// And its key.
    pub key: PathBuf,
}

/// What one neighbour can take up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Messages that may wait.
    pub waiting: usize,
    /// Messages in a second.
    pub messages: u64,
    /// Bytes in a second.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 64, messages: 20_000, bytes: 4 << 30 }
    }
}

/// What is wrong with a node's file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// It is not understood.
    #[error("{0}: {1}")]
    Form(PathBuf, toml::de::Error),
    /// It says something impossible.
    #[error("{0}: {1}")]
    Meaning(PathBuf, String),
}

impl Config {
    /// Reads and checks a file; its paths are relative to it.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::File(path.to_owned(), error))?;
        let mut config: Self = toml::from_str(&text).map_err(|error| ConfigError::Form(path.to_owned(), error))?;
        config.check().map_err(|message| ConfigError::Meaning(path.to_owned(), message))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let tls = config.tls.iter_mut().flat_map(|tls| [&mut tls.ca, &mut tls.certificate, &mut tls.key]);
        for path in [&mut config.plan, &mut config.state].into_iter().chain(&mut config.data).chain(tls) {
            *path = folder.join(&*path);
        }
        Ok(config)
    }

    /// As a file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), String> {
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !plain(&self.run) {
            return Err(not_a_name(&self.run));
        }
        let mut names = BTreeSet::new();
        for (name, address) in self.everybody() {
            if !plain(name) {
                return Err(not_a_name(name));
            }
            if !names.insert(name) {
                return Err(format!("two are called `{name}`"));
            }
            if address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
                return Err(format!("`{address}` of `{name}` is not host:port"));
            }
        }
        if !names.contains(self.node.as_str()) {
            return Err(format!(
                "there is no [[member]] and no [[router]] with the name `{}`, which node says this is",
                self.node
            ));
        }
        if self.me().is_some() && (self.plan.as_os_str().is_empty() || self.state.as_os_str().is_empty()) {
            return Err("a member needs `plan`, the experiment, and `state`, a folder of its own".into());
        }
        let mut agents = BTreeSet::new();
        for member in &self.members {
            if member.agents.is_empty() {
                return Err(format!("`{}` owns no agent", member.name));
            }
            if let Some(twice) = member.agents.iter().find(|agent| !agents.insert(**agent)) {
                return Err(format!("agent {twice} is owned twice"));
            }
        }
        if agents.iter().copied().ne(0..agents.len() as u32) {
            return Err("the agents of all members together must be 0, 1, 2, … without a gap".into());
        }
        match (&self.tls, self.insecure) {
            (None, false) => Err("[tls] is missing: `fabnet pki` makes certificates; insecure = true does without, for everybody on the network to read and forge".into()),
            (Some(_), true) => Err("[tls] and insecure = true contradict each other: remove one".into()),
            _ if !(0.0..1.0).contains(&self.loss) => Err("loss is a part of 1, below 1".into()),
            _ => Ok(()),
        }
    }

    /// This node among the members; a router is none of them.
    pub fn me(&self) -> Option<&Member> {
        self.members.iter().find(|member| member.name == self.node)
    }

    /// Names and addresses of all members and routers.
    fn everybody(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = self.members.iter().map(|member| (member.name.as_str(), member.address.as_str()));
        members.chain(self.routers.iter().map(|router| (router.name.as_str(), router.address.as_str())))
    }

    /// Where this node listens, if others connect to it.
    pub fn listens_at(&self) -> Option<&str> {
        let connected_to = self.routers.is_empty() || self.me().is_none();
        self.everybody().find(|(name, _)| connected_to && *name == self.node).map(|(_, address)| address)
    }

    /// Those that this node can be connected with, itself among them if they are its equals: routers, if there are any.
    fn circle(&self) -> impl Iterator<Item = (&str, &str)> {
        self.everybody().skip(if self.routers.is_empty() { 0 } else { self.members.len() })
    }

    /// Names and addresses of those that this node can be connected with.
    pub fn contacts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.circle().filter(|(name, _)| *name != self.node)
    }

    /// The addresses among them that this node calls. Of two that are equals, only the later one in the list calls: where both do, the engine can end with a connection that works in one direction only (eclipse-zenoh/zenoh#2806).
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.circle().take_while(|(name, _)| *name != self.node).map(|(_, address)| address)
    }

    /// The address through which an agent is heard: its node's, or the nearest router's.
    pub fn way_to(&self, agent: u32) -> &str {
        let owner = self.members.iter().find(|member| member.agents.contains(&agent));
        match (self.routers.first(), owner) {
            (Some(router), _) => &router.address,
            (None, Some(member)) => &member.address,
            (None, None) => "",
        }
    }

    /// The name of the member that an agent belongs to.
    pub fn owner(&self, agent: u32) -> &str {
        let owner = self.members.iter().find(|member| member.agents.contains(&agent));
        owner.map_or("", |member| &member.name)
    }

    /// All agents of the run.
    pub fn agents(&self) -> usize {
        self.members.iter().map(|member| member.agents.len()).sum()
    }

    /// What all nodes must have in common, in short: the run, its plan, and who owns what.
    pub fn manifest(&self, plan: &str) -> Manifest {
        let mut hash = Sha256::new();
        let mut put = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        put(&self.run);
        put(plan);
        for member in &self.members {
            put(&member.name);
            put(&format!("{:?}", member.agents));
        }
        Manifest(hash.finalize().into())
    }
}

fn not_a_name(name: &str) -> String {
    format!("`{name}` cannot be a name: use letters, digits, `-`, `_` and `.`")
}

/// The hash of what all nodes must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest([u8; 32]);

impl Manifest {
    /// The number that messages carry.
    pub fn number(&self) -> u64 {
        self.0.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Hex(&self.0[..16]).fmt(f)
    }
}

fn checkpoint() -> Duration {
    Duration::from_secs(2)
}

fn linger() -> Duration {
    Duration::from_secs(30)
}

/// Times as people write them: 50ms, 2s, 1min.
mod time {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&humantime::format_duration(*time).to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text).map_err(|error| D::Error::custom(format!("{error}; write 50ms, 2s or 1min")))
    }
}
