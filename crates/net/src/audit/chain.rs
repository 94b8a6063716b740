//! The lines of an audit log as a chain of hashes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;
use crate::pki::moment;

/// Something that a node notes for those who look into it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct AuditEvent {
    /// The kind of what happened.
    pub kind: String,
    /// The member that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The agent of this node to which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<u32>,
    /// The round in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u64>,
    /// What happened, in words.
    pub text: String,
}

/// The fields of a line before its own hash.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct LineFields {
    /// The number of the line, from 0 on.
    pub(super) number: u64,
    /// The hash of the line before; zeros at the beginning of a chain.
    pub(super) before: String,
    /// The time of day, in UTC.
    time: String,
    #[serde(flatten)]
    event: AuditEvent,
}

/// The end of a chain, to which the next line is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChainEnd {
    /// The number of the next line.
    pub(super) number: u64,
    /// The hash of the last line.
    pub(super) hash: String,
}

/// A line that was read.
#[derive(Clone, Debug)]
pub(super) struct ReadLine {
    pub(super) fields: LineFields,
    /// The hash that the line gives for itself.
    pub(super) hash: String,
    /// Whether that is the hash of what stands before it.
    pub(super) is_intact: bool,
}

/// What stands between the fields of a line and its hash.
const SEAL: &str = ",\"hash\":\"";

impl AuditEvent {
    /// An event of a kind, in words.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), text: text.into(), ..Self::default() }
    }

    /// The same, about a member.
    #[must_use]
    pub fn about(self, member: &str) -> Self {
        Self { member: Some(member.to_owned()), ..self }
    }
}

impl ChainEnd {
    /// The end of a chain without lines.
    pub(super) fn start() -> Self {
        Self { number: 0, hash: "0".repeat(64) }
    }

    /// The end of the chain after this line.
    pub(super) fn after(line: &ReadLine) -> Self {
        Self { number: line.fields.number.saturating_add(1), hash: line.hash.clone() }
    }

    /// Adds a line, which is returned with its line end.
    pub(super) fn add(&mut self, unix_time: Duration, event: &AuditEvent) -> String {
        let Self { number, hash } = self.clone();
        let fields = LineFields { number, before: hash, time: moment(unix_time), event: event.clone() };
        // Strings and numbers always have a form in JSON.
        let text = serde_json::to_string(&fields).unwrap_or_default();
        let open = text.strip_suffix('}').unwrap_or_default();
        *self = Self { number: number.saturating_add(1), hash: hash_of(open) };
        format!("{open}{SEAL}{}\"}}\n", self.hash)
    }
}

impl ReadLine {
    /// Reads a line without its end; none if it has not the form of one.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let (open, seal) = std::str::from_utf8(line).ok()?.rsplit_once(SEAL)?;
        let hash = seal.strip_suffix("\"}")?;
        let fields: LineFields = serde_json::from_str(&format!("{open}}}")).ok()?;
        Some(Self { fields, hash: hash.to_owned(), is_intact: hash == hash_of(open) })
    }
}

/// The SHA-256 of a text, as hexadecimal digits.
fn hash_of(text: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(text).into();
    Hex(&hash).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_700_000_000);

    #[test]
    fn a_line_holds_its_number_its_time_and_the_hash_of_the_line_before() {
        let mut end = ChainEnd::start();
        let first = end.add(NOW, &AuditEvent::new("start", "a \"quoted\" word\nand a second line"));
        let second = end.add(NOW, &AuditEvent::new("admission", "heard").about("beta"));
        assert_eq!(first.matches('\n').count(), 1, "{first}");
        let [first, second] = [first, second].map(|line| ReadLine::parse(line.trim_end().as_bytes()).unwrap());
        assert!(first.is_intact && second.is_intact);
        assert_eq!((first.fields.number, first.fields.before.as_str()), (0, "0".repeat(64).as_str()));
        assert_eq!((second.fields.number, &second.fields.before), (1, &first.hash));
        assert_eq!(second.fields.time, "2023-11-14T22:13:20Z");
        assert_eq!(second.fields.event, AuditEvent::new("admission", "heard").about("beta"));
        assert_eq!(ChainEnd::after(&second), end);
    }

    #[test]
    fn whatever_is_changed_in_a_line_shows() {
        let line = ChainEnd::start().add(NOW, &AuditEvent::new("refusal", "7 access"));
        let line = line.trim_end();
        for place in 0..line.len() {
            let mut changed = line.as_bytes().to_vec();
            changed[place] ^= 1;
            let read = ReadLine::parse(&changed);
            assert!(read.is_none_or(|read| !read.is_intact), "byte {place} of {line}");
        }
        assert!(ReadLine::parse(b"").is_none() && ReadLine::parse(b"{}").is_none());
    }
}
