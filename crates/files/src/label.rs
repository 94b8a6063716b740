//! What a file of a node's state is, and to which run it belongs.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The first frame of a file, as lines of text: `kind`, `run`, `agent`, and what else two files must
/// have in common to be of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What the records are, with the version of their format: `life 1`.
    pub kind: String,
    /// The digest of the run.
    pub run: String,
    /// The agent.
    pub agent: u32,
    /// Further properties, by name.
    pub details: BTreeMap<String, String>,
}

impl Label {
    /// A label without further properties.
    pub fn new(kind: &str, run: &str, agent: u32) -> Self {
        Self { kind: kind.to_owned(), run: run.to_owned(), agent, details: BTreeMap::new() }
    }

    /// Adds a property.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.details.insert(name.to_owned(), value.to_string());
        self
    }

    /// A property, if there is one with this name.
    pub fn detail(&self, name: &str) -> Option<&str> {
        self.details.get(name).map(String::as_str)
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("kind {}\nrun {}\nagent {}\n", self.kind, self.run, self.agent);
        for (name, value) in &self.details {
            _ = writeln!(text, "{name} {value}");
        }
        text
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines: BTreeMap<String, String> = BTreeMap::new();
        for line in text.lines() {
            let (name, value) = line.split_once(' ')?;
            lines.insert(name.to_owned(), value.to_owned());
        }
        let mut take = |name: &str| lines.remove(name);
        let (kind, run, agent) = (take("kind")?, take("run")?, take("agent")?.parse().ok()?);
        Some(Self { kind, run, agent, details: lines })
    }
}

/// As messages name it.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {}, agent {} ({}", self.run, self.agent, self.kind)?;
        self.details.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))?;
        f.write_str(")")
    }
}
