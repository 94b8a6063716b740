//! One item of a stream.

use serde::{Deserialize, Serialize};

use crate::{Hello, WatchEvent, WatchFrame};

/// One item of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "most items are frames, the largest of them")]
pub enum Item {
    /// What is run.
    Hello(Hello),
    /// All agents at a time.
    Frame(WatchFrame),
    /// Something that happened.
    Event(WatchEvent),
}

impl Item {
    /// The time of the item; nothing for the first.
    pub(crate) fn time(&self) -> Option<f64> {
        match self {
            Self::Hello(_) => None,
            Self::Frame(frame) => Some(frame.t),
            Self::Event(event) => Some(event.t),
        }
    }
}
