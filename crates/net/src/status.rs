//! What a node says of itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fabnet_core::{Peer, Scalar};
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// A node.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own, read by scripts")]
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct NodeStatus {
    /// Of this run.
    pub run: String,
    /// Its name.
    pub node: String,
    /// What all nodes of the run have in common, in short.
    pub manifest: String,
    /// Of the program.
    pub version: String,
    /// Seconds since it started.
    pub seconds: f64,
    /// Whether it has heard of others, or needs none.
    pub ready: bool,
    /// Whether its agents have begun with their rounds.
    #[serde(default)]
    pub begun: bool,
    /// Whether all its agents have done their rounds.
    pub done: bool,
    /// Whether they are done and nothing speaks against the answer.
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
    /// How often it has connected anew, because somebody within reach was not heard.
    #[serde(default)]
    pub renewals: u64,
    /// Its agents.
    pub agents: Vec<AgentStatus>,
}

/// An agent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AgentStatus {
    /// Its number.
    pub agent: u32,
    /// Rounds that are done.
    pub round: u64,
    /// Its epoch.
    pub epoch: u64,
    /// Its life.
    pub incarnation: u64,
    /// One number for its round, its row and what stays with it, to the last bit, in hexadecimal digits.
    pub fingerprint: String,
    /// Members that it counts.
    pub members: u64,
    /// By how much its mass is not what its input and edges say, in units: 0.
    pub mass_residual: u64,
    /// The largest such difference that was ever seen.
    pub max_mass_residual: u64,
    /// Messages, by what became of them.
    pub messages: BTreeMap<String, u64>,
    /// Bytes sent.
    pub bytes: u64,
    /// Edges undone, closed; members given up; own returns; epochs; steps not taken.
    pub events: BTreeMap<String, u64>,
    /// Rounds since the last message was used, of the source for which that is longest.
    pub pull_age: u64,
    /// How far its neighbours are away, in the norm of what is pulled.
    pub disagreement: f64,
    /// What went over edges that do not answer, by receiver.
    pub parked: BTreeMap<u32, f64>,
    /// Seconds since its last checkpoint.
    pub checkpoint_age: Option<f64>,
}

impl AgentStatus {
    /// Looks at a peer.
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

/// The newest status, for those that serve it.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<NodeStatus>>);

impl Shared {
    /// Of a node that has not begun.
    pub fn of(config: &Config) -> Self {
        let status = NodeStatus { run: config.run.clone(), node: config.node.clone(), ..NodeStatus::default() };
        Self(Arc::new(Mutex::new(status)))
    }

    /// The newest.
    pub fn get(&self) -> NodeStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut NodeStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
