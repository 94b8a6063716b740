//! A plan as an experiment file.

use std::fmt::Write;

use fabnet_core::settings::Value;

use super::entry::PlanEntry;
use super::{Group, Plan, Target};

impl Plan {
    /// The version of the program that stands in the texts of which digests of runs are made.
    const VERSION_OF_DIGESTS: &str = "0.1.0";

    /// Writes the plan as an experiment file that resolves to the same plan.
    pub fn to_toml(&self) -> String {
        self.written_by(env!("CARGO_PKG_VERSION"))
    }

    /// The text of which the digest of a run is made: the plan as its first version has written it.
    /// Nodes of two versions of the program so belong to the same run, and a node that was upgraded
    /// goes on with its state folder.
    pub fn text_of_digest(&self) -> String {
        self.written_by(Self::VERSION_OF_DIGESTS)
    }

    fn written_by(&self, version: &str) -> String {
        let mut out = String::new();
        let mut line = |text: String| _ = writeln!(out, "{text}");
        line("# Every value resolved: `fabnet run` on this file repeats the run bit for bit.".into());
        line(format!("format = {}", Self::FORMAT));
        line(format!("version = {}", quoted(version)));
        line(format!("name = {}", quoted(&self.name)));
        line(format!("seeds = {:?}", self.seeds));
        line(format!("\n[record]\nevery = {}", self.every));
        line(format!("metrics = [{}]", quoted_list(&self.metrics)));
        line(format!("solutions = {}", quoted(self.solutions.name())));
        if let Some(Target { metric, below }) = &self.target {
            line(format!("\n[stop]\nmetric = {}\nbelow = {below:?}", quoted(metric)));
        }
        self.groups.iter().for_each(|group| group.write_toml(&mut out));
        out
    }
}

impl Group {
    /// Writes the group as an `[[algorithm]]` that overrides everything outside of it.
    fn write_toml(&self, out: &mut String) {
        let mut line = |text: String| _ = writeln!(out, "{text}");
        line(format!("\n[[algorithm]]\nlabel = {}", quoted(&self.label)));
        if !self.grid.is_empty() {
            line(format!("grid = [{}]", quoted_list(&self.grid)));
        }
        line(format!("agents = {}\nrounds = {}", self.agents, self.rounds));
        line(format!("settle = {}", to_toml(&self.settled())));
        line(format!("precision = {}", quoted(self.precision.name())));
        let registered = [("problem", &self.problem), ("topology", &self.topology), ("weights", &self.weights)];
        let plain = [("faults", &self.faults), ("network", &self.network), ("wire", &self.wire)];
        let plain = plain.into_iter().filter_map(|(section, entry)| Some((section, entry.as_ref()?)));
        for (section, entry) in registered.into_iter().chain(plain) {
            line(format!("{section} = {{ {} }}", assignments(entry).join(", ")));
        }
        line(assignments(&self.algorithm).join("\n"));
    }
}

/// The kind and the settings of an entry, each as `key = value`.
fn assignments(entry: &PlanEntry) -> Vec<String> {
    let setting = |(key, value): &(String, Value)| format!("{key} = {}", to_toml(value));
    let kind = Some(&entry.kind).filter(|kind| !kind.is_empty()).map(|kind| format!("kind = {}", quoted(kind)));
    kind.into_iter().chain(entry.settings.iter().map(setting)).collect()
}

/// Writes a value as TOML has it.
pub(crate) fn to_toml(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
    }
}

/// Writes texts as the items of a TOML list.
fn quoted_list(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

/// Writes a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() => _ = write!(out, "\\u{:04X}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
