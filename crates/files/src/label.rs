//! The label of a state file: what it contains, and to which run and agent it belongs.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The first frame of a file, as lines of text: `kind`, `run`, `agent`, and further properties in
/// which two files must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The kind of the records, with the version of their format, such as `life 1`.
    pub kind: String,
    /// The digest of the run that wrote the file.
    pub run: String,
    /// The agent to which the records belong.
    pub agent: u32,
    /// Further properties, by name.
    pub details: BTreeMap<String, String>,
}

impl Label {
    /// Makes a label without further properties.
    pub fn new(kind: &str, run: &str, agent: u32) -> Self {
        Self { kind: kind.to_owned(), run: run.to_owned(), agent, details: BTreeMap::new() }
    }

    /// Adds a further property.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.details.insert(name.to_owned(), value.to_string());
        self
    }

    /// The value of a further property, if the label has it.
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

/// The form in which messages name a label.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {}, agent {} ({}", self.run, self.agent, self.kind)?;
        self.details.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))?;
        f.write_str(")")
    }
}
