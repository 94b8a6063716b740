//! Resolving: every value of a file as typed is looked up, checked and completed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use fabnet_core::settings::{Given, Key, Keys, Value};

use crate::experiment::{fault_settings, network_settings, record_settings, run_settings, stop_settings};
use crate::grid::{Cell, expand};
use crate::label::{Labels, full_label};
use crate::metric;
use crate::mistake::{Mistake, Mistakes, Origin, suggest};
use crate::plan::{Group, Part, Plan, Target};
use crate::problem::FEATURES;
use crate::section::{OVERRIDES, Section};
use crate::solution::Solutions;
use crate::tree::{Entry, Node, Table};
use crate::unknown::unknown;

/// What a file may say at its top level, apart from single values.
const TABLES: [&str; 8] = ["problem", "topology", "weights", "faults", "network", "algorithm", "record", "stop"];

/// Why a name or a label is refused.
const CONTROL: &str = "it has a control character, which no file name, table or figure can show: leave it out";

/// Resolves a file as typed.
pub(crate) fn resolve(root: &Table, file: &Path) -> Result<Plan, Mistakes> {
    let sections = [Section::problem(), Section::topology(), Section::weights(), Section::algorithm()];
    let mut resolver = Resolver { root, file, sections: &sections, mistakes: Vec::new() };
    let plan = resolver.plan();
    let (mut list, mut met) = (resolver.mistakes, BTreeSet::new());
    // A mistake in a grid is met once for each of its cells.
    list.retain(|mistake| met.insert(mistake.clone()));
    if list.is_empty() { Ok(plan) } else { Err(Mistakes { file: file.to_owned(), list }) }
}

/// A table as settings are read from it.
struct Typed<'a> {
    table: &'a Table,
    folder: &'a Path,
}

impl Given for Typed<'_> {
    fn get(&self, key: &str) -> Option<Value> {
        match &self.table.find(key)?.node {
            Node::Value(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let path = self.folder.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("`{}` cannot be read ({error})", path.display()))
    }
}

struct Resolver<'a> {
    root: &'a Table,
    file: &'a Path,
    /// Problem, topology, weights and algorithm.
    sections: &'a [Section; 4],
    mistakes: Vec<Mistake>,
}

impl<'a> Resolver<'a> {
    fn plan(&mut self) -> Plan {
        let root = self.root;
        let stem = self.file.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
        let others: Vec<&str> = TABLES.into_iter().chain(["agents", "rounds", "precision", "seeds"]).collect();
        let (name, _) = self.read(root, "", &Origin::Missing, &others, |keys| {
            let name = keys.text("name", "a text", ["first", "second"], "what the results are called");
            keys.text("version", "a text", ["0.1.0", "0.2.0"], "the program that wrote a plan");
            if keys.whole("format", Plan::FORMAT, .., "of a plan") > Plan::FORMAT {
                keys.mistake(
                    "format",
                    format!("it was written by a newer fabnet: this one knows up to {}", Plan::FORMAT),
                );
            }
            match name.as_deref() {
                Some(name) if name.is_empty() || name.contains(['/', '\\']) => {
                    keys.mistake("name", "it becomes the name of a folder: leave out / and \\");
                }
                Some(name) if name.contains(char::is_control) => keys.mistake("name", CONTROL),
                _ => {}
            }
            name
        });
        let seeds = self.seeds();
        let groups = self.groups();
        let ((every, solutions), metrics) = self.record(&groups);
        let target = self.target(&groups);
        let missing = target.iter().map(|target| &target.metric).filter(|metric| !metrics.contains(metric));
        let metrics = metrics.iter().chain(missing).cloned().collect();
        Plan { name: name.unwrap_or(stem.into_owned()), seeds, every, metrics, solutions, target, groups }
    }

    /// A number of seeds, a range `"a..b"` without b, or a list.
    fn seeds(&mut self) -> Vec<u64> {
        const MOST: u64 = 1_000_000;
        let few =
            |seeds: Range<u64>| (seeds.end.saturating_sub(seeds.start) <= MOST).then(|| seeds.collect::<Vec<_>>());
        let Some(entry) = self.root.get("seeds") else { return vec![0] };
        let whole = |entry: &Entry| match entry.node {
            Node::Value(Value::Whole(seed)) => u64::try_from(seed).ok(),
            _ => None,
        };
        let seeds = match &entry.node {
            Node::Value(Value::Text(range)) => {
                range.split_once("..").and_then(|(from, to)| few(from.trim().parse().ok()?..to.trim().parse().ok()?))
            }
            Node::Value(_) => whole(entry).and_then(|count| few(0..count)),
            Node::List(list) => list.iter().map(whole).collect(),
            Node::Table(_) => None,
        };
        seeds.filter(|seeds| !seeds.is_empty()).unwrap_or_else(|| {
            let message = "not usable: it is how many (10), a range without its end (\"0..10\") or a list ([1, 2, 3]), of whole numbers, a million at most";
            self.mistake(&entry.origin, "seeds", message);
            vec![0]
        })
    }

    /// Every algorithm, with every cell of its grid.
    fn groups(&mut self) -> Vec<Group> {
        let (mut groups, mut labels) = (Vec::new(), Labels::default());
        for algorithm in self.algorithms() {
            let Some(own) = algorithm.table() else {
                self.mistake(
                    &algorithm.origin,
                    "algorithm",
                    "it is a table: write [[algorithm]], then kind = \"dfab\"",
                );
                continue;
            };
            let (mut own, mut whole) = (own.clone(), Table::default());
            let (label, grid) = (own.take("label"), own.take("grid"));
            if let Some(label) = &label {
                self.check_label(label);
            }
            for &key in OVERRIDES {
                if let Some(entry) = own.take(key).or_else(|| self.root.get(key).cloned()) {
                    whole.put(key, entry);
                }
            }
            whole.put("algorithm", Entry { node: Node::Table(own), origin: algorithm.origin.clone() });
            let cells = expand(&whole).unwrap_or_else(|mistake| {
                self.mistakes.push(mistake);
                Vec::new()
            });
            for cell in cells {
                let mut group = self.group(&cell);
                if let Some(Entry { node: Node::List(paths), .. }) = &grid {
                    group.grid.extend(paths.iter().filter_map(|path| text(path).map(str::to_owned)));
                }
                let label = label.as_ref().and_then(text).unwrap_or(&group.algorithm.kind);
                group.label = labels.unused(full_label(label, &cell));
                groups.push(group);
            }
        }
        groups
    }

    /// A label becomes part of file names, tables and figures.
    fn check_label(&mut self, label: &Entry) {
        let message = match text(label) {
            None => "it is a text",
            Some(label) if label.contains(char::is_control) => CONTROL,
            Some(_) => return,
        };
        self.mistake(&label.origin, "algorithm.label", message);
    }

    fn algorithms(&mut self) -> Vec<Entry> {
        match self.root.get("algorithm") {
            Some(Entry { node: Node::List(list), .. }) if !list.is_empty() => list.clone(),
            Some(entry @ Entry { node: Node::Table(_), .. }) => vec![entry.clone()],
            _ => {
                self.mistake(
                    &Origin::Missing,
                    "algorithm",
                    "there is none: add [[algorithm]] with kind = \"dfab\", for instance",
                );
                Vec::new()
            }
        }
    }

    fn group(&mut self, cell: &Cell) -> Group {
        let others: Vec<&str> = TABLES.into_iter().collect();
        let ((agents, rounds, precision), _) = self.read(&cell.table, "", &Origin::Missing, &others, run_settings);
        let [problem, topology, weights, algorithm] =
            self.sections.each_ref().map(|section| self.part(&cell.table, section));
        let faults = self.plain_table(&cell.table, "faults", "loss = 0.1", fault_settings);
        let network = self.plain_table(&cell.table, "network", "tick = 0.1", network_settings);
        let outside = cell.chosen.iter().map(|(path, _)| path).filter(|path| !path.starts_with("algorithm."));
        let grid = outside.cloned().collect();
        let label = String::new();
        Group { label, grid, agents, rounds, precision, problem, topology, weights, faults, network, algorithm }
    }

    /// A table that has one kind only, if it is there.
    fn plain_table<V>(
        &mut self,
        cell: &Table,
        name: &str,
        example: &str,
        read: impl FnOnce(&mut Keys<'_>) -> V,
    ) -> Option<Part> {
        let entry = cell.get(name)?;
        let Some(table) = entry.table() else {
            let message = format!("it is a table: write [{name}], then {example}, for instance");
            self.mistake(&entry.origin, name, &message);
            return None;
        };
        let (_, asked) = self.read(table, name, &entry.origin, &[], read);
        Some(Part { kind: String::new(), settings: set(asked) })
    }

    /// One section: its kind, and what that kind reads.
    fn part(&mut self, cell: &Table, section: &Section) -> Part {
        let empty = Table::default();
        let (table, origin) = match cell.get(section.name) {
            Some(Entry { node: Node::Table(table), origin }) => (table, origin.clone()),
            Some(Entry { origin, .. }) => {
                self.mistake(
                    origin,
                    section.name,
                    &format!("it is a table: write [{}], then kind = \"…\"", section.name),
                );
                return Part::default();
            }
            None => (&empty, Origin::Missing),
        };
        let typed = table.get("kind");
        let name = typed.map_or(section.default, text);
        let Some(kind) = section.kinds.iter().find(|kind| Some(kind.name) == name) else {
            let feature = FEATURES.iter().find(|(problem, _)| Some(*problem) == name);
            let message = match (typed, name, feature) {
                (_, _, Some((name, feature))) => {
                    format!("this fabnet was built without \"{name}\": install it with --features {feature}")
                }
                (Some(_), Some(name), None) => {
                    format!("\"{name}\" is no kind of {}; {}", section.name, suggest(name, section.names()))
                }
                _ => format!("a kind is needed; {}", suggest("", section.names())),
            };
            self.mistake(typed.map_or(&origin, |entry| &entry.origin), &format!("{}.kind", section.name), &message);
            return Part::default();
        };
        let others: Vec<&str> = ["kind"].into_iter().chain(section.beside.iter().copied()).collect();
        let ((), asked) = self.read(table, section.name, &origin, &others, |keys| kind.read(keys));
        Part { kind: kind.name.to_owned(), settings: set(asked) }
    }

    fn record(&mut self, groups: &[Group]) -> ((u64, Solutions), Vec<String>) {
        let usual = || metric::USUAL.map(str::to_owned).to_vec();
        let Some((table, origin)) = self.table("record") else {
            return (record_settings(&mut Keys::new(&[])), usual());
        };
        let (settings, _) = self.read(table, "record", &origin, &["metrics"], record_settings);
        let typed = match table.get("metrics").map(|entry| (&entry.node, entry)) {
            None => return (settings, usual()),
            Some((Node::List(list), entry)) if list.is_empty() => {
                self.mistake(&entry.origin, "record.metrics", "an empty list records nothing: name at least one");
                return (settings, usual());
            }
            Some((Node::List(list), _)) => list.iter().collect(),
            Some((_, entry)) => vec![entry],
        };
        let mut metrics = Vec::new();
        for entry in typed {
            let name = text(entry).unwrap_or_default();
            self.check_metric(name, "record.metrics", &entry.origin, groups);
            if !metrics.iter().any(|known| known == name) {
                metrics.push(name.to_owned());
            }
        }
        (settings, metrics)
    }

    fn target(&mut self, groups: &[Group]) -> Option<Target> {
        let (table, origin) = self.table("stop")?;
        let (target, _) = self.read(table, "stop", &origin, &[], stop_settings);
        if let Some(target) = &target {
            let origin = table.get("metric").map_or(Origin::Missing, |entry| entry.origin.clone());
            self.check_metric(&target.metric, "stop.metric", &origin, groups);
        }
        target
    }

    fn check_metric(&mut self, name: &str, key: &str, origin: &Origin, groups: &[Group]) {
        let known = metric::known_for(groups.iter().map(|group| group.problem.kind.as_str()));
        if !known.contains(&name) {
            let message = format!("there is no metric \"{name}\"; {}", suggest(name, known.iter().copied()));
            self.mistake(origin, key, &message);
        }
    }

    /// A table of the file that is no registry's.
    fn table(&mut self, name: &str) -> Option<(&'a Table, Origin)> {
        let entry = self.root.get(name)?;
        if entry.table().is_none() {
            self.mistake(&entry.origin, name, &format!("it is a table: write [{name}]"));
        }
        Some((entry.table()?, entry.origin.clone()))
    }

    /// Reads settings from a table; what it holds besides these and `others` is unknown.
    fn read<R>(
        &mut self,
        table: &Table,
        section: &str,
        origin: &Origin,
        others: &[&str],
        read: impl FnOnce(&mut Keys<'_>) -> R,
    ) -> (R, Vec<Key>) {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let given = Typed { table, folder };
        let mut keys = Keys::new(&given);
        let result = read(&mut keys);
        let dotted = |key: &str| if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        let asked: Vec<&str> = keys.asked().iter().map(|key| key.name.as_str()).collect();
        let unknown = unknown(table, &asked, others);
        for mistake in &keys.mistakes {
            // A table with a misspelt key lacks the right one: that is said once.
            let inner = format!("{}.", mistake.key);
            if !unknown.iter().any(|key| key.path.starts_with(&inner)) {
                let origin = table.find(&mistake.key).map_or(origin, |entry| &entry.origin);
                self.mistake(origin, &dotted(&mistake.key), &mistake.message);
            }
        }
        for key in unknown {
            self.mistake(key.origin, &dotted(&key.path), &key.message);
        }
        (result, keys.into_asked())
    }

    fn mistake(&mut self, origin: &Origin, key: &str, message: &str) {
        self.mistakes.push(Mistake { origin: origin.clone(), key: key.to_owned(), message: message.to_owned() });
    }
}

/// The keys that have a value.
fn set(asked: Vec<Key>) -> Vec<(String, Value)> {
    asked.into_iter().filter_map(|key| Some((key.name, key.value?))).collect()
}

fn text(entry: &Entry) -> Option<&str> {
    if let Node::Value(Value::Text(text)) = &entry.node { Some(text) } else { None }
}
