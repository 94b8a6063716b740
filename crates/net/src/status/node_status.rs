//! The status of a node and of its agents, as `/status` serves it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fabnet_core::{Peer, Scalar};
use serde::{Deserialize, Serialize};

use crate::config::Config;

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
    /// How often it has connected again, because somebody within reach was not heard.
    #[serde(default)]
    pub renewals: u64,
    /// The status of each agent of the node.
    pub agents: Vec<AgentStatus>,
}

/// The status of one agent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AgentStatus {
    /// The number of the agent.
    pub agent: u32,
    /// The rounds that are done.
    pub round: u64,
    /// The epoch in which the agent is.
    pub epoch: u64,
    /// The number of its incarnation.
    pub incarnation: u64,
    /// A hash of its round, its row and its memory to the last bit, in hexadecimal digits.
    pub fingerprint: String,
    /// The members that it counts as alive.
    pub members: u64,
    /// By how many units its mass differs from what its contribution and edges say: 0.
    pub mass_residual: u64,
    /// The largest such difference that was ever seen.
    pub max_mass_residual: u64,
    /// The messages, by what became of them.
    pub messages: BTreeMap<String, u64>,
    /// The bytes that it has sent.
    pub bytes: u64,
    /// Counts of rare events: edges undone and closed, members given up, own returns, new epochs,
    /// and steps that were not taken.
    pub events: BTreeMap<String, u64>,
    /// The rounds since a message of a source was last used, of the source for which that is
    /// longest.
    pub pull_age: u64,
    /// The distance to its neighbours, in the norm of what is pulled.
    pub disagreement: f64,
    /// The mass that went over edges that do not answer, by receiver.
    pub parked: BTreeMap<u32, f64>,
    /// The seconds since its last checkpoint, if there was one.
    pub checkpoint_age: Option<f64>,
}

impl AgentStatus {
    /// The status of a peer. How old its checkpoint is, a peer does not know.
    pub fn of<T: Scalar>(peer: &mut Peer<T>) -> Self {
        let counters = peer.counters();
        let named = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let residual = peer.ledger().residual();
        Self {
            agent: peer.node(),
            round: peer.round(),
            epoch: peer.epoch(),
            incarnation: peer.incarnation().counter,
            fingerprint: format!("{:016x}", peer.fingerprint()),
            members: peer.table().members().count() as u64,
            mass_residual: residual,
            max_mass_residual: residual,
            messages: named(&[
                ("sent", counters.messages),
                ("applied", counters.applied),
                ("malformed", counters.malformed),
                ("stale", counters.stale),
                ("outdated", counters.outdated),
            ]),
            bytes: counters.bytes,
            events: named(&[
                ("reversals", counters.reversals),
                ("closes", counters.closes),
                ("evictions", counters.evictions),
                ("refutations", counters.refutations),
                ("forgotten", counters.forgotten),
                ("epochs", counters.epochs),
                ("bad_steps", counters.bad_steps),
            ]),
            pull_age: peer.pull_age(),
            disagreement: peer.disagreement(),
            parked: peer.parked().collect(),
            checkpoint_age: None,
        }
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
            "absent agents begun complete done doubles dropped manifest node ready refused renewals run seconds version"
        );
        assert_eq!(
            agent,
            "agent bytes checkpoint_age disagreement epoch events fingerprint incarnation mass_residual \
             max_mass_residual members messages parked pull_age round"
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
}
