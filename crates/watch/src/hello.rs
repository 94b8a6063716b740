//! What is run, and by whom.

use serde::{Deserialize, Serialize};

use crate::alphabet::ALPHABET;

/// The version of the stream.
pub const VERSION: u32 = 1;

/// The first item of a stream: what is run. What is not known is left out.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Hello {
    /// The version of the stream.
    pub v: u32,
    /// Where the stream comes from.
    pub source: RunSource,
    /// What times are measured in.
    pub clock: TimeUnit,
    /// The number of agents.
    pub agents: usize,
    /// The name of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The kind of problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The name of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The kind of network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// The seconds of a tick of real nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<f64>,
    /// The part of all messages that is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The name of the first metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The value of this metric at which the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// The names of the agents, where they have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The edges that are known at the start: from, to, from, to, and so on. Frames add others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<u32>,
    /// The letters that stand for ages in frames.
    pub alphabet: String,
}

/// Where a stream comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunSource {
    /// Real nodes, as processes.
    Nodes,
    /// A simulation of `fabnet run`.
    Run,
    /// A simulation of faults.
    Seed,
}

/// What the times of a stream are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum TimeUnit {
    /// Seconds since the start.
    #[serde(rename = "s")]
    Seconds,
    /// Ticks of a simulation.
    #[serde(rename = "ticks")]
    Ticks,
    /// Rounds that are done.
    #[serde(rename = "rounds")]
    Rounds,
}

impl Hello {
    /// A stream of this many agents, of which nothing else is known.
    pub fn new(source: RunSource, clock: TimeUnit, agents: usize) -> Self {
        Self {
            v: VERSION,
            source,
            clock,
            agents,
            run: None,
            problem: None,
            method: None,
            topology: None,
            rounds: None,
            tick: None,
            loss: None,
            metric: None,
            target: None,
            names: None,
            edges: Vec::new(),
            alphabet: ALPHABET.to_owned(),
        }
    }
}
