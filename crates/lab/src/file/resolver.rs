//! Resolving: every value of a file as typed is looked up, checked and completed.

use std::collections::BTreeSet;
use std::path::Path;

use fabnet_core::settings::SettingsReader;

use super::diagnostic::{Diagnostics, suggest};
use super::grid::{Cell, expand};
use super::label::{Labels, full_label};
use super::reader::{Reader, Source};
use super::recording::Recording;
use super::section::{OVERRIDES, Section};
use super::seeds::{self, read_seeds};
use super::tree::{Entry, Node, Table};
use crate::missing_feature::MissingFeature;
use crate::plan::{Group, Origin, Plan, PlanEntry};
use crate::problems::FEATURES;
use crate::settings::{RunSettings, fault_settings, network_settings, run_settings, wire_settings};

/// The entries at the top level of a file that are not single values.
const TABLES: [&str; 9] =
    ["problem", "topology", "weights", "faults", "network", "wire", "algorithm", "record", "stop"];

/// What is said about a name or a label with a control character.
const CONTROL: &str = "it has a control character, which no file name, table or figure can show: leave it out";

/// Resolves a file as typed to a plan, or to everything that is wrong with it.
pub(crate) fn resolve(root: &Table, file: &Path) -> Result<Plan, Diagnostics> {
    let sections = [Section::problem(), Section::topology(), Section::weights(), Section::algorithm()];
    let reader = Reader { file, diagnostics: Vec::new() };
    let mut resolver = Resolver { root, sections: &sections, reader };
    let plan = resolver.plan();
    let (mut list, mut met) = (resolver.reader.diagnostics, BTreeSet::new());
    // A mistake in a grid is met once for each of its cells.
    list.retain(|diagnostic| met.insert(diagnostic.clone()));
    if list.is_empty() { Ok(plan) } else { Err(Diagnostics { file: file.to_owned(), list }) }
}

/// A file that is being resolved.
struct Resolver<'a> {
    root: &'a Table,
    /// The sections with registries: problem, topology, weights and algorithm.
    sections: &'a [Section; 4],
    reader: Reader<'a>,
}

impl Resolver<'_> {
    fn plan(&mut self) -> Plan {
        let name = self.name();
        let seeds = self.seeds();
        let groups = self.groups();
        let Recording { every, solutions, metrics, target } = Recording::read(&mut self.reader, self.root, &groups);
        Plan { name, seeds, every, metrics, solutions, target, groups }
    }

    /// The name of the experiment: what the file says, or else the name of the file.
    fn name(&mut self) -> String {
        let stem = self.reader.file.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
        let others: Vec<&str> =
            TABLES.into_iter().chain(["agents", "rounds", "settle", "precision", "seeds"]).collect();
        let source = Source { table: self.root, section: "", origin: &Origin::Missing, others: &others };
        self.reader.read(source, read_name).0.unwrap_or(stem.into_owned())
    }

    fn seeds(&mut self) -> Vec<u64> {
        let Some(entry) = self.root.get("seeds") else { return vec![0] };
        read_seeds(entry).unwrap_or_else(|| {
            self.reader.report(&entry.origin, "seeds", seeds::UNUSABLE);
            vec![0]
        })
    }

    /// A group for every algorithm and every cell of its grid.
    fn groups(&mut self) -> Vec<Group> {
        let (mut groups, mut labels) = (Vec::new(), Labels::default());
        for algorithm in self.algorithms() {
            if let Some(own) = algorithm.table() {
                groups.extend(self.groups_of(&algorithm, own.clone(), &mut labels));
            } else {
                let message = "it is a table: write [[algorithm]], then kind = \"dfab\"";
                self.reader.report(&algorithm.origin, "algorithm", message);
            }
        }
        groups
    }

    /// The tables under `[[algorithm]]`; at least one is needed.
    fn algorithms(&mut self) -> Vec<Entry> {
        match self.root.get("algorithm") {
            Some(Entry { node: Node::List(list), .. }) if !list.is_empty() => list.clone(),
            Some(entry @ Entry { node: Node::Table(_), .. }) => vec![entry.clone()],
            _ => {
                let message = "there is none: add [[algorithm]] with kind = \"dfab\", for instance";
                self.reader.report(&Origin::Missing, "algorithm", message);
                Vec::new()
            }
        }
    }

    /// The groups of one algorithm, whose own table says what it overrides.
    fn groups_of(&mut self, algorithm: &Entry, mut own: Table, labels: &mut Labels) -> Vec<Group> {
        let (label, grid) = (own.take("label"), own.take("grid"));
        if let Some(label) = &label {
            self.check_label(label);
        }
        let mut whole = Table::default();
        for &key in OVERRIDES {
            if let Some(entry) = own.take(key).or_else(|| self.root.get(key).cloned()) {
                whole.put(key, entry);
            }
        }
        whole.put("algorithm", Entry { node: Node::Table(own), origin: algorithm.origin.clone() });
        let cells = expand(&whole).unwrap_or_else(|diagnostic| {
            self.reader.diagnostics.push(diagnostic);
            Vec::new()
        });
        let group = |cell: &Cell| {
            let mut group = self.group(cell);
            if let Some(Entry { node: Node::List(paths), .. }) = &grid {
                group.grid.extend(paths.iter().filter_map(|path| path.text().map(str::to_owned)));
            }
            let label = label.as_ref().and_then(Entry::text).unwrap_or(&group.algorithm.kind);
            group.label = labels.unused(full_label(label, cell));
            group
        };
        cells.iter().map(group).collect()
    }

    /// Reports a label that cannot be part of file names, tables and figures.
    fn check_label(&mut self, label: &Entry) {
        let message = match label.text() {
            None => "it is a text",
            Some(label) if label.contains(char::is_control) => CONTROL,
            Some(_) => return,
        };
        self.reader.report(&label.origin, "algorithm.label", message);
    }

    /// The group of one cell, without its label.
    fn group(&mut self, cell: &Cell) -> Group {
        let source = Source { table: &cell.table, section: "", origin: &Origin::Missing, others: &TABLES };
        let (RunSettings { agents, rounds, settle, precision }, _) = self.reader.read(source, run_settings);
        let [problem, topology, weights, algorithm] =
            self.sections.each_ref().map(|section| self.registry_entry(&cell.table, section));
        let faults = self.plain_entry(&cell.table, "faults", "loss = 0.1", fault_settings);
        let network = self.plain_entry(&cell.table, "network", "tick = 0.1", network_settings);
        let wire = self.plain_entry(&cell.table, "wire", "words = 8", wire_settings);
        let outside = cell.chosen.iter().map(|(path, _)| path).filter(|path| !path.starts_with("algorithm."));
        let grid = outside.cloned().collect();
        let label = String::new();
        Group {
            label,
            grid,
            agents,
            rounds,
            settle,
            precision,
            problem,
            topology,
            weights,
            faults,
            network,
            wire,
            algorithm,
        }
    }

    /// Reads a table that has no kinds, if it is there.
    fn plain_entry<V>(
        &mut self,
        cell: &Table,
        section: &str,
        example: &str,
        read: impl FnOnce(&mut SettingsReader<'_>) -> V,
    ) -> Option<PlanEntry> {
        let entry = cell.get(section)?;
        let Some(table) = entry.table() else {
            let message = format!("it is a table: write [{section}], then {example}, for instance");
            self.reader.report(&entry.origin, section, message);
            return None;
        };
        let source = Source { table, section, origin: &entry.origin, others: &[] };
        Some(self.reader.read_entry("", source, read))
    }

    /// Reads a section with a registry: its kind, and the settings of that kind.
    fn registry_entry(&mut self, cell: &Table, section: &Section) -> PlanEntry {
        let empty = Table::default();
        let (table, origin) = match cell.get(section.name) {
            Some(Entry { node: Node::Table(table), origin }) => (table, origin),
            Some(Entry { origin, .. }) => {
                let message = format!("it is a table: write [{}], then kind = \"…\"", section.name);
                self.reader.report(origin, section.name, message);
                return PlanEntry::default();
            }
            None => (&empty, &Origin::Missing),
        };
        let typed = table.get("kind");
        let name = typed.map_or(section.default, Entry::text);
        let Some(kind) = section.kinds.iter().find(|kind| Some(kind.name) == name) else {
            let message = unknown_kind(section, typed.is_some(), name);
            self.reader.report(typed.map_or(origin, |entry| &entry.origin), &format!("{}.kind", section.name), message);
            return PlanEntry::default();
        };
        let others: Vec<&str> = ["kind"].into_iter().chain(section.beside.iter().copied()).collect();
        let source = Source { table, section: section.name, origin, others: &others };
        self.reader.read_entry(kind.name, source, |keys| kind.read(keys))
    }
}

/// Reads the name at the top level, and the keys that a plan has beside it.
fn read_name(keys: &mut SettingsReader<'_>) -> Option<String> {
    let name = keys.text("name", "a text", ["first", "second"], "what the results are called");
    keys.text("version", "a text", ["0.1.0", "0.2.0"], "the program that wrote a plan");
    if keys.whole("format", Plan::FORMAT, .., "of a plan") > Plan::FORMAT {
        let message = format!("it was written by a newer fabnet: this one knows up to {}", Plan::FORMAT);
        keys.mistake("format", message);
    }
    match name.as_deref() {
        Some(name) if name.is_empty() || name.contains(['/', '\\']) => {
            keys.mistake("name", "it becomes the name of a folder: leave out / and \\");
        }
        Some(name) if name.contains(char::is_control) => keys.mistake("name", CONTROL),
        _ => {}
    }
    name
}

/// Says what to do about a kind that the registry does not have.
fn unknown_kind(section: &Section, typed: bool, name: Option<&str>) -> String {
    let feature = FEATURES.iter().find(|(problem, _)| Some(*problem) == name);
    match (name, feature) {
        (_, Some((name, feature))) => MissingFeature::new(format!("\"{name}\""), feature).to_string(),
        (Some(name), None) if typed => {
            format!("\"{name}\" is no kind of {}; {}", section.name, suggest(name, section.names()))
        }
        _ => format!("a kind is needed; {}", suggest("", section.names())),
    }
}
