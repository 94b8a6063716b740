//! Something that happened.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that happened at a time. Which fields there are follows from its kind; readers show
/// kinds that they do not know as text.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct WatchEvent {
    /// When it happened.
    pub t: f64,
    /// The round in which it happened.
    #[serde(default)]
    pub k: u64,
    /// The kind of what happened.
    pub kind: String,
    /// The agent to which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<u32>,
    /// Another agent that was part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u32>,
    /// More about it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl WatchEvent {
    /// Something of a kind that happened at a time, in a round.
    pub fn new(t: f64, k: u64, kind: &str) -> Self {
        Self { t, k, kind: kind.to_owned(), ..Self::default() }
    }

    /// The same, of an agent.
    #[must_use]
    pub fn of(self, agent: u32) -> Self {
        Self { agent: Some(agent), ..self }
    }

    /// The same, with another agent.
    #[must_use]
    pub fn with_other(self, other: u32) -> Self {
        Self { other: Some(other), ..self }
    }

    /// The same, in words.
    #[must_use]
    pub fn saying(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// The same, with another field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_kinds_that_are_not_known_are_kept() {
        let text = r#"{"t":1.5,"k":7,"kind":"eclipse","agent":3,"moons":[1,2]}"#;
        let event: WatchEvent = serde_json::from_str(text).unwrap();
        assert_eq!((event.kind.as_str(), event.agent), ("eclipse", Some(3)));
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }

    #[test]
    fn an_event_has_the_fields_that_it_was_given() {
        let event = WatchEvent::new(2.0, 9, "epoch").of(1).with_other(4).saying("why").with("epoch", 3);
        let expected = r#"{"t":2.0,"k":9,"kind":"epoch","agent":1,"other":4,"text":"why","epoch":3}"#;
        assert_eq!(serde_json::to_string(&event).unwrap(), expected);
    }
}
