//! The status of a node and of its agents, as `/status` serves it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use fabnet_watch::{AgentStatus, WatchEvent};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Member};
use crate::pki::{CertificateExpiry, moment};

/// The status of a node. Scripts read its fields as JSON.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own, read by scripts")]
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct NodeStatus {
    /// The name of the run.
    pub run: String,
    /// The name of the node.
    pub node: String,
    /// The digest of what all nodes of the run have in common.
    pub manifest: String,
    /// The version of the program.
    pub version: String,
    /// The seconds since the node started.
    pub seconds: f64,
    /// Whether it has heard of others, or needs none.
    pub ready: bool,
    /// Whether its agents have begun with their rounds.
    #[serde(default)]
    pub begun: bool,
    /// Whether all its agents have done their rounds.
    pub done: bool,
    /// Whether they are done and no problem was found with the answer.
    #[serde(default)]
    pub complete: bool,
    /// Members that are not heard at present.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Members as which two processes act.
    #[serde(default)]
    pub doubles: Vec<String>,
    /// What was refused before a peer saw it, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Messages that were lost on purpose.
    pub dropped: u64,
    /// How often it has connected again, because somebody within reach was not heard, or because
    /// its certificate has changed.
    #[serde(default)]
    pub renewals: u64,
    /// The first of the node's certificates to expire; none for a node without certificates.
    #[serde(default)]
    pub certificate: Option<CertificateStatus>,
    /// The status of each agent of the node.
    pub agents: Vec<AgentStatus>,
    /// All members of the run, as the node's file names them.
    #[serde(default)]
    pub members: Vec<MemberAddress>,
    /// What happened lately.
    #[serde(default)]
    pub log: NodeLog,
}

/// When the first of a node's certificates expires: its own or that of its authority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CertificateStatus {
    /// The file of the certificate.
    pub path: String,
    /// The last moment at which it is valid, in seconds since 1970-01-01 UTC.
    pub expires: u64,
    /// The same moment as a date and a time of day in UTC.
    pub until: String,
    /// The whole days that are left; negative after it has expired.
    pub days_left: i64,
}

impl CertificateStatus {
    pub(crate) fn of(expiry: &CertificateExpiry) -> Self {
        let CertificateExpiry { path, until, days_left, .. } = expiry;
        Self { path: path.clone(), expires: until.as_secs(), until: moment(*until), days_left: *days_left }
    }
}

/// A member of a run, and where its status can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct MemberAddress {
    /// The name of the member.
    pub name: String,
    /// The agents that it owns.
    pub agents: Vec<u32>,
    /// The host and port at which its status can be read, if that is known.
    pub http: Option<String>,
}

/// What happened lately at a node. Times are seconds since the node started.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NodeLog {
    /// The number of events so far.
    pub total: u64,
    /// The last of them, the oldest first.
    pub events: VecDeque<WatchEvent>,
}

impl NodeLog {
    /// The number of events that are kept.
    const KEPT: usize = 100;

    /// Adds something that happened.
    pub(crate) fn add(&mut self, event: WatchEvent) {
        if self.events.len() == Self::KEPT {
            self.events.pop_front();
        }
        self.events.push_back(event);
        self.total += 1;
    }

    /// The events after the first `seen`, as far as they are kept; all if there were fewer, since
    /// the node has then started anew.
    pub fn after(&self, seen: u64) -> impl Iterator<Item = &WatchEvent> {
        let new = self.total.checked_sub(seen).unwrap_or(self.total);
        self.events.iter().skip(self.events.len().saturating_sub(new as usize))
    }
}

impl MemberAddress {
    /// All members of a run.
    pub fn all(config: &Config) -> Vec<Self> {
        let address = |member: &Member| Self {
            name: member.name.clone(),
            agents: member.agents.clone(),
            http: member.http.clone(),
        };
        config.members.iter().map(address).collect()
    }
}

/// The newest status of a node, shared with those that serve it.
#[derive(Clone, Debug, Default)]
pub struct SharedStatus(Arc<Mutex<NodeStatus>>);

impl SharedStatus {
    /// The status of a node that has not begun.
    pub fn of(config: &Config) -> Self {
        let status = NodeStatus { run: config.run.clone(), node: config.node.clone(), ..NodeStatus::default() };
        Self(Arc::new(Mutex::new(status)))
    }

    /// A copy of the newest status.
    pub fn get(&self) -> NodeStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut NodeStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all fields of a status, with those of its first agent.
    fn fields(status: &NodeStatus) -> [Vec<String>; 2] {
        let json = serde_json::to_value(status).unwrap();
        let names = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect();
        [names(&json), names(&json["agents"][0])]
    }

    /// Scripts read these.
    #[test]
    fn the_names_of_json_fields_are_fixed() {
        let status = NodeStatus { agents: vec![AgentStatus::default()], ..NodeStatus::default() };
        let [node, agent] = fields(&status).map(|names| names.join(" "));
        assert_eq!(
            node,
            "absent agents begun certificate complete done doubles dropped log manifest members node ready refused \
             renewals run seconds version"
        );
        assert_eq!(
            agent,
            "agent ages bytes checkpoint_age disagreement epoch events fingerprint incarnation mass_residual \
             max_mass_residual members messages metric parked pull_age round sources step_size times"
        );
    }

    #[test]
    fn a_status_of_an_earlier_version_without_some_fields_is_read() {
        let text = r#"{ "run": "r", "node": "a", "manifest": "", "version": "0.0.1", "seconds": 1.5, "ready": true,
            "done": false, "refused": { "rate": 2 }, "dropped": 0, "agents": [] }"#;
        let status: NodeStatus = serde_json::from_str(text).unwrap();
        assert_eq!((status.renewals, status.begun, status.refused["rate"]), (0, false, 2));
    }

    #[test]
    fn a_shared_status_begins_with_what_the_config_says_and_shows_changes() {
        let shared = SharedStatus::of(&Config::new("today", "alpha", Vec::new()));
        let elsewhere = shared.clone();
        assert_eq!((shared.get().run, shared.get().node), ("today".into(), "alpha".into()));
        shared.change(|status| status.dropped = 3);
        assert_eq!(elsewhere.get().dropped, 3);
    }

    #[test]
    fn the_last_events_are_kept_and_new_ones_are_told_from_old_ones() {
        let mut log = NodeLog::default();
        (0..150).for_each(|round| log.add(WatchEvent::new(0.0, round, "epoch")));
        let after = |seen| log.after(seen).map(|event| event.k).collect::<Vec<_>>();
        assert_eq!((after(148), after(150)), (vec![148, 149], vec![]));
        assert_eq!((after(0).len(), after(999).len()), (100, 100));
    }
}
