//! The status of an agent.

use std::collections::BTreeMap;

use fabnet_core::{Peer, Scalar};
use serde::{Deserialize, Serialize};

use crate::LatestRounds;

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
    /// The agents whose messages its last round used, or would have.
    #[serde(default)]
    pub sources: Vec<u32>,
    /// The rounds since a message of each source was used; 0 if the last round did.
    #[serde(default)]
    pub ages: BTreeMap<u32, u64>,
    /// The step size of the first block, once it is decided.
    #[serde(default)]
    pub step_size: Option<f64>,
    /// The first metric of the plan for this agent alone, where it can be measured.
    #[serde(default)]
    pub metric: Option<f64>,
    /// How long the parts of its last rounds took.
    #[serde(default)]
    pub times: LatestRounds,
}

impl AgentStatus {
    /// The status of a peer. How old its checkpoint is, how long rounds take and how good the
    /// answer is, a peer does not know.
    pub fn of<T: Scalar>(peer: &mut Peer<T>) -> Self {
        let counters = peer.counters();
        let named = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let residual = peer.ledger().residual();
        let last = peer.round().saturating_sub(1);
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
                ("refused", counters.refused),
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
            sources: peer.sources_in(last).collect(),
            ages: peer.used_in().map(|(source, round)| (source, last.saturating_sub(round))).collect(),
            step_size: peer.step_size(),
            metric: None,
            times: LatestRounds::default(),
        }
    }
}
