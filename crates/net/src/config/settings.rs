//! What stands in a node's file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::durations;

/// The settings of one node of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of the run, the same for all nodes and never used before: messages of other runs
    /// are refused.
    pub run: String,
    /// The name of this node among the members or the routers.
    pub node: String,
    /// The experiment, the same for all members; a router needs none.
    #[serde(default)]
    pub plan: PathBuf,
    /// The folder in which this node keeps its incarnation, checkpoints and records; a router keeps
    /// nothing.
    #[serde(default)]
    pub state: PathBuf,
    /// The state folder of this node in a run that was stopped, whose checkpoints its agents begin
    /// with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<PathBuf>,
    /// The folder with this node's data: with `data = "own"` in the plan, `own/AGENT.safetensors`
    /// of its own agents and of nobody else. If it is not given, the usual places are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// The address at which metrics and status are served, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<SocketAddr>,
    /// Whether this node records what happens in its state folder, for `fabnet watch`.
    #[serde(default)]
    pub watch: bool,
    /// The time between two checkpoints.
    #[serde(default = "default_checkpoint", with = "durations")]
    pub checkpoint: Duration,
    /// The time for which a node that is done goes on answering others, after the last progress of
    /// one that is behind.
    #[serde(default = "default_linger", with = "durations")]
    pub linger: Duration,
    /// The fraction of all messages that is lost on purpose.
    #[serde(default)]
    pub loss: f64,
    /// The limits of what one neighbour can take up.
    #[serde(default)]
    pub limits: Limits,
    /// The certificates of this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The file in which an operator brings a list of expelled members, which the node looks at now
    /// and then. It need not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expelled: Option<PathBuf>,
    /// Plain TCP: everybody on the network can read, forge and join.
    #[serde(default)]
    pub insecure: bool,
    /// Whether nodes of one host exchange large messages through shared memory.
    #[serde(default)]
    pub shared_memory: bool,
    /// All nodes of the run that own agents.
    #[serde(rename = "member")]
    pub members: Vec<Member>,
    /// The routers between nodes that cannot reach each other, the nearest first. If there are any,
    /// a member connects to one of them and to nobody else.
    #[serde(default, rename = "router", skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<RouterSettings>,
}

/// A router as a node's file names it: it owns no agent and carries messages. Members trust it,
/// because it could forge what it carries.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RouterSettings {
    /// Its name, and the common name of its certificate.
    pub name: String,
    /// The host and port at which it listens.
    pub address: String,
}

/// A node of the run that owns agents.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its name, and the common name of its certificate.
    pub name: String,
    /// The agents that it owns.
    pub agents: Vec<u32>,
    /// The host and port at which it listens.
    pub address: String,
    /// The host and port at which its status can be read, for those who watch the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
}

/// The certificates of a node, as files in PEM form.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate of the run's authority.
    pub ca: PathBuf,
    /// The certificate of this node.
    pub certificate: PathBuf,
    /// The private key of this node.
    pub key: PathBuf,
}

/// The limits of what one neighbour can take up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Messages of one neighbour that may wait to be handled.
    pub waiting: usize,
    /// Messages that one neighbour may send in a second.
    pub messages: u64,
    /// Bytes that one neighbour may send in a second.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 64, messages: 20_000, bytes: 4 << 30 }
    }
}

impl Config {
    /// The settings of a member that says nothing beyond the run, its name and the members, as a
    /// file with these keys only would be read. It has no certificates and is not `insecure`
    /// either.
    pub fn new(run: &str, node: &str, members: Vec<Member>) -> Self {
        Self {
            run: run.to_owned(),
            node: node.to_owned(),
            plan: PathBuf::new(),
            state: PathBuf::new(),
            continues: None,
            data: None,
            http: None,
            watch: false,
            checkpoint: default_checkpoint(),
            linger: default_linger(),
            loss: 0.0,
            limits: Limits::default(),
            tls: None,
            expelled: None,
            insecure: false,
            shared_memory: false,
            members,
            routers: Vec::new(),
        }
    }

    /// Writes the settings as a file that reads as the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

fn default_checkpoint() -> Duration {
    Duration::from_secs(2)
}

fn default_linger() -> Duration {
    Duration::from_secs(30)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member() -> Member {
        Member { name: "alpha".into(), agents: vec![0], address: "127.0.0.1:7000".into(), http: None }
    }

    #[test]
    fn a_config_without_further_keys_is_what_a_file_without_them_says() {
        let text =
            "run = \"r\"\nnode = \"alpha\"\n[[member]]\nname = \"alpha\"\nagents = [0]\naddress = \"127.0.0.1:7000\"\n";
        let read: Config = toml::from_str(text).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", Config::new("r", "alpha", vec![member()])));
    }

    #[test]
    fn a_config_that_is_written_reads_as_the_same() {
        let mut config = Config::new("r", "alpha", vec![member()]);
        config.data = Some("data".into());
        config.continues = Some("state-1".into());
        config.http = Some(([127, 0, 0, 1], 9000).into());
        config.checkpoint = Duration::from_millis(50);
        config.linger = Duration::from_secs(90);
        config.loss = 0.25;
        config.tls = Some(Tls { ca: "ca.pem".into(), certificate: "a.pem".into(), key: "a.key".into() });
        config.shared_memory = true;
        config.routers = vec![RouterSettings { name: "hub".into(), address: "hub:7447".into() }];
        let read: Config = toml::from_str(&config.to_toml()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{config:?}"));
    }

    #[test]
    fn a_duration_that_is_not_understood_says_how_to_write_one() {
        let text = "run = \"r\"\nnode = \"alpha\"\nlinger = \"soon\"\nmember = []\n";
        let error = toml::from_str::<Config>(text).unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("write 50ms, 2s or 1min"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = toml::from_str::<Config>("run = \"r\"\nnode = \"a\"\nlinge = \"2s\"\nmember = []\n").unwrap_err();
        assert!(error.to_string().contains("linge"), "{error}");
    }
}
