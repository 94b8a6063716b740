//! Everything that an experiment file may name, generated from the definitions that read it.

use std::fmt::Write;

use fabnet_core::direction::directions;
use fabnet_core::settings::{Setting, SettingsReader, Value};

use crate::file::{RegistryEntry, Section};
use crate::method_map::method_map;
use crate::metric::{DEFAULT_METRICS, metrics};
use crate::plan::to_toml;
use crate::problems::problems;
use crate::settings::{fault_settings, network_settings, record_settings, run_settings, stop_settings, wire_settings};

/// A registry, such as that of all algorithms.
pub struct Topic {
    /// The name that users ask for.
    pub name: &'static str,
    /// Where its entries are chosen in a file, in Markdown.
    pub place: &'static str,
    entries: Vec<TopicEntry>,
}

/// An entry of a registry, with the keys that it reads.
struct TopicEntry {
    name: String,
    about: String,
    keys: Vec<Setting>,
}

impl Topic {
    /// The names of its entries, each with a line on what it is.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (entry.name.as_str(), entry.about.as_str()))
    }
}

/// Every registry with its entries.
pub fn topics() -> Vec<Topic> {
    let topic = |name, place, entries| Topic { name, place, entries };
    let section = |name, place, section: Section| {
        let entry = |kind: &RegistryEntry| TopicEntry::new(kind.name, kind.about, kind.keys());
        topic(name, place, section.kinds.iter().map(entry).collect())
    };
    let direction = |kind: fabnet_core::direction::DirectionKind| {
        let mut keys = SettingsReader::new(&[]);
        (kind.describe)(&mut keys);
        TopicEntry::new(kind.name, &format!("{}; step sizes {}", kind.about, kind.steps.join(", ")), keys.into_asked())
    };
    let metric = metrics::<f64>().into_iter().map(|metric| TopicEntry::new(metric.name, metric.about, Vec::new()));
    vec![
        section("algorithms", "chosen in `[[algorithm]]`", Section::algorithm()),
        topic("directions", "what an algorithm follows", directions().into_iter().map(direction).collect()),
        section("problems", "chosen in `[problem]`", Section::problem()),
        section("topologies", "chosen in `[topology]`", Section::topology()),
        section("weights", "chosen in `[weights]`", Section::weights()),
        topic("metrics", "chosen in `record.metrics` and `stop.metric`", metric.chain(own_metrics()).collect()),
    ]
}

/// The metrics that only some problems have, and which these are.
fn own_metrics() -> impl Iterator<Item = TopicEntry> {
    let mut found: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for problem in problems::<f64>() {
        for &(name, about) in problem.metrics {
            match found.iter_mut().find(|known| (known.0, known.1) == (name, about)) {
                Some((_, _, owners)) => owners.push(problem.name),
                None => found.push((name, about, vec![problem.name])),
            }
        }
    }
    found
        .into_iter()
        .map(|(name, about, owners)| TopicEntry::new(name, &format!("{about} ({})", owners.join(", ")), Vec::new()))
}

impl Topic {
    /// The topic as a text for the terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{} ({})\n", self.name, self.place.replace('`', ""));
        for entry in &self.entries {
            _ = writeln!(out, "  {:<22} {}", entry.name, entry.about);
            for key in &entry.keys {
                _ = writeln!(out, "      {:<26} {}: {}", assignment(key), key.accepts, key.about);
            }
        }
        out
    }

    /// The topic as a section of the reference.
    fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n{}.\n", capital(self.name), capital(self.place));
        if self.entries.iter().all(|entry| entry.keys.is_empty()) {
            out += "\n| name | |\n|---|---|\n";
            self.entries.iter().for_each(|entry| _ = writeln!(out, "| `{}` | {} |", entry.name, entry.about));
            return out;
        }
        for entry in &self.entries {
            _ = write!(out, "\n### `{}`\n\n{}.\n", entry.name, capital(&entry.about));
            out += &table(&entry.keys);
        }
        out
    }
}

/// The tables of a file that have no kinds, by name, with their keys; the first is the top level.
pub fn tables() -> [(&'static str, Vec<Setting>); 6] {
    let read = |read: &dyn Fn(&mut SettingsReader<'_>)| {
        let mut keys = SettingsReader::new(&[]);
        read(&mut keys);
        keys.into_asked()
    };
    [
        ("", read(&|keys| _ = run_settings(keys))),
        ("faults", read(&|keys| _ = fault_settings(keys))),
        ("network", read(&|keys| _ = network_settings(keys))),
        ("wire", read(&|keys| _ = wire_settings(keys))),
        ("record", read(&|keys| _ = record_settings(keys))),
        ("stop", read(&|keys| _ = stop_settings(keys))),
    ]
}

/// The reference of experiment files, as the guide holds it.
pub fn reference() -> String {
    let [top, faults, network, wire, record, stop] = tables().map(|(_, keys)| table(&keys));
    let default_metrics = format!("`metrics` is a list of metrics; if not given, {}.", words(&DEFAULT_METRICS));
    let sections = [
        ("Top level", TOP_LEVEL, top),
        ("`[faults]`", FAULTS, faults),
        ("`[network]`", NETWORK, network),
        ("`[wire]`", WIRE, wire),
        ("`[record]`", &default_metrics, record),
    ];
    let mut out = String::from(INTRODUCTION);
    for (title, about, keys) in sections {
        _ = write!(out, "\n## {title}\n\n{about}\n{keys}");
    }
    out += "\n## `[stop]`\n";
    out += &stop;
    _ = write!(out, "\n{}", method_map());
    for topic in topics() {
        _ = write!(out, "\n{}", topic.markdown());
    }
    out
}

const INTRODUCTION: &str = "# Experiment files: the reference\n\n\
    <!-- Generated by `fabnet list --markdown`; a test holds it to the code. -->\n\n\
    A list in place of a value is a grid, except in `seeds` and `metrics`. An `[[algorithm]]` may carry a `label` and \
    override `agents`, `rounds`, `settle`, `precision`, `problem`, `topology`, `weights`, `faults`, `network` and `wire`. \
    Unknown keys are errors.\n";

const TOP_LEVEL: &str = "`name` is what the results are called (the file's name if not given). `seeds` is how many \
    (`10`), a range without its end (`\"0..10\"`) or a list; each seed draws its own problem, graph and noise.";

const FAULTS: &str = "If the table is there, agents exchange messages over such links instead of mixing exactly \
    (docs/protocol.md); without it nothing goes wrong. Real nodes refuse it.";

const NETWORK: &str = "How real nodes make rounds (`fabnet node`, `fabnet launch`); simulated runs do not read it.";

const WIRE: &str = "How scalars travel between agents with `[faults]` and a ledger, and between real nodes \
    (docs/wire.md); runs that mix exactly do not read it.";

impl TopicEntry {
    fn new(name: &str, about: &str, keys: Vec<Setting>) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), keys }
    }
}

/// A table of keys with their defaults.
fn table(keys: &[Setting]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n| key | default | accepts | |\n|---|---|---|---|\n");
    for key in keys {
        let default = key.value.as_ref().map_or(String::new(), |value| format!("`{}`", to_toml(value)));
        _ = writeln!(out, "| `{}` | {default} | {} | {} |", key.name, key.accepts, key.about);
    }
    out
}

/// A key with its default, as it is written in a file.
fn assignment(Setting { name, value, .. }: &Setting) -> String {
    let of = |value: &Value| format!("{name} = {}", to_toml(value));
    value.as_ref().map_or(name.clone(), of)
}

/// Lists words as code.
fn words(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The text with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
