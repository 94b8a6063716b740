//! All agents at a time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is seen of all agents at a time. Lists have an entry for each agent; what was not measured
/// is left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct WatchFrame {
    /// The time that it shows.
    pub t: f64,
    /// The newest round.
    pub k: u64,
    /// The state of each agent: u running, j joining, s silent, d down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s: Option<String>,
    /// Whether each agent could be asked: y, or n where what is shown is what was last known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v: Option<String>,
    /// The rounds by which each agent is behind the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r: Option<Vec<u64>>,
    /// The first metric of each agent, as 100·log₁₀.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<Vec<Option<i32>>>,
    /// The disagreement of each agent with the others, as 100·log₁₀.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d: Option<Vec<Option<i32>>>,
    /// The first metric of the whole run, as 100·log₁₀.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x0: Option<i32>,
    /// Other metrics of the whole run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mm: BTreeMap<String, f64>,
    /// The rounds since a message of the oldest source was used, for each agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Vec<Option<u64>>>,
    /// The age of the last checkpoint of each agent: in tenths of a second where times are seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<Vec<Option<u64>>>,
    /// The bytes that all agents have sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<u64>,
    /// Edges that were not known before: from, to, from, to, and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ne: Vec<u32>,
    /// The edges of this round, by their places among all edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<RoundEdges>,
    /// A letter for each edge: the rounds since its last message was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g: Option<String>,
    /// Edges on which mass is parked, with its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<Vec<(usize, f64)>>,
    /// How long the parts of rounds took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub w: Option<PartTimes>,
    /// The epochs, if they have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ep: Option<ByAgent<u64>>,
    /// The incarnations, if they have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub li: Option<ByAgent<u64>>,
    /// The step sizes, if they have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h: Option<ByAgent<Option<f64>>>,
    /// The refused messages, if their number has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rf: Option<ByAgent<u64>>,
    /// The largest mass residual, in units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
    /// The largest mass residual so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mx: Option<u64>,
}

/// How long the parts of the rounds since the last frame took.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartTimes {
    /// The number of rounds of each agent that is shown.
    pub n: Vec<usize>,
    /// Four letters for each round, the oldest first, agent by agent: compute, wait, mix, disk.
    pub x: String,
    /// The agents that are shown.
    pub a: Vec<u32>,
}

/// The edges that the schedule uses in a round.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RoundEdges {
    /// Their places among all edges.
    pub i: Vec<usize>,
}

/// A number of each agent, or one for all if they agree.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum ByAgent<V> {
    /// All agents have the same.
    All(V),
    /// One for each agent.
    Each(Vec<V>),
}

impl WatchFrame {
    /// A value as frames have it: 100·log₁₀, rounded; `None` if it has no logarithm.
    pub fn log(value: f64) -> Option<i32> {
        Some(100.0 * value.log10()).filter(|log| log.is_finite()).map(|log| log.round() as i32)
    }
}

impl<V: PartialEq + Copy> ByAgent<V> {
    /// The numbers of all agents.
    pub fn of(values: Vec<V>) -> Option<Self> {
        let first = *values.first()?;
        Some(if values.iter().all(|value| *value == first) { Self::All(first) } else { Self::Each(values) })
    }

    /// The same, if it differs from what was said last, which it becomes.
    pub fn if_changed(values: Vec<V>, last: &mut Option<Self>) -> Option<Self>
    where
        V: Clone,
    {
        let now = Self::of(values);
        if now == *last {
            return None;
        }
        last.clone_from(&now);
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_left_out() {
        let frame = WatchFrame { t: 0.5, k: 3, ..WatchFrame::default() };
        assert_eq!(serde_json::to_string(&frame).unwrap(), r#"{"t":0.5,"k":3}"#);
        assert_eq!(serde_json::from_str::<WatchFrame>(r#"{"t":0.5,"k":3,"unknown":1}"#).unwrap(), frame);
    }

    #[test]
    fn logarithms_are_hundredths() {
        assert_eq!([1e-3, 1.0, f64::NAN, 0.0].map(WatchFrame::log), [Some(-300), Some(0), None, None]);
    }

    #[test]
    fn numbers_that_agree_are_said_once_and_only_when_they_change() {
        let mut last = None;
        let mut say = |values: &[u64]| {
            ByAgent::if_changed(values.to_vec(), &mut last).map(|value| serde_json::to_string(&value).unwrap())
        };
        let said = [say(&[1, 1]), say(&[1, 1]), say(&[1, 2])];
        assert_eq!(said, [Some("1".to_owned()), None, Some("[1,2]".to_owned())]);
    }
}
