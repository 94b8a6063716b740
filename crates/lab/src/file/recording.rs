//! What a file says about records and targets: `[record]` and `[stop]`.

use fabnet_core::settings::SettingsReader;

use super::diagnostic::suggest;
use super::reader::{Reader, Source};
use super::tree::{Node, Table};
use crate::metric::{DEFAULT_METRICS, known_for};
use crate::plan::{Group, Origin, SavedSolutions, Target};
use crate::settings::{record_settings, stop_settings};

/// What is recorded of each run.
pub(super) struct Recording {
    /// The number of rounds between two records.
    pub(super) every: u64,
    /// Which solutions runs write to files.
    pub(super) solutions: SavedSolutions,
    /// The names of the metrics, with that of the target.
    pub(super) metrics: Vec<String>,
    /// The target that ends a run early, if there is one.
    pub(super) target: Option<Target>,
}

impl Recording {
    /// Reads `[record]` and `[stop]` of a file with these groups.
    pub(super) fn read(reader: &mut Reader<'_>, root: &Table, groups: &[Group]) -> Self {
        let ((every, solutions), mut metrics) = read_record(reader, root, groups);
        let target = read_target(reader, root, groups);
        if let Some(target) = &target
            && !metrics.contains(&target.metric)
        {
            metrics.push(target.metric.clone());
        }
        Self { every, solutions, metrics, target }
    }
}

/// Reads the table `[record]`: its settings and its list of metrics.
fn read_record(reader: &mut Reader<'_>, root: &Table, groups: &[Group]) -> ((u64, SavedSolutions), Vec<String>) {
    let defaults = || DEFAULT_METRICS.map(str::to_owned).to_vec();
    let Some((table, origin)) = find_table(reader, root, "record") else {
        return (record_settings(&mut SettingsReader::new(&[])), defaults());
    };
    let source = Source { table, section: "record", origin, others: &["metrics"] };
    let (settings, _) = reader.read(source, record_settings);
    let typed = match table.get("metrics").map(|entry| (&entry.node, entry)) {
        None => return (settings, defaults()),
        Some((Node::List(list), entry)) if list.is_empty() => {
            reader.report(&entry.origin, "record.metrics", "an empty list records nothing: name at least one");
            return (settings, defaults());
        }
        Some((Node::List(list), _)) => list.iter().collect(),
        Some((_, entry)) => vec![entry],
    };
    let mut metrics = Vec::new();
    for entry in typed {
        let name = entry.text().unwrap_or_default();
        check_metric(reader, name, "record.metrics", &entry.origin, groups);
        if !metrics.iter().any(|known| known == name) {
            metrics.push(name.to_owned());
        }
    }
    (settings, metrics)
}

/// Reads the table `[stop]`.
fn read_target(reader: &mut Reader<'_>, root: &Table, groups: &[Group]) -> Option<Target> {
    let (table, origin) = find_table(reader, root, "stop")?;
    let (target, _) = reader.read(Source { table, section: "stop", origin, others: &[] }, stop_settings);
    if let Some(target) = &target {
        let origin = table.get("metric").map_or(&Origin::Missing, |entry| &entry.origin);
        check_metric(reader, &target.metric, "stop.metric", origin, groups);
    }
    target
}

/// Finds a table of the file, and reports an entry of that name that is no table.
fn find_table<'a>(reader: &mut Reader<'_>, root: &'a Table, name: &str) -> Option<(&'a Table, &'a Origin)> {
    let entry = root.get(name)?;
    if entry.table().is_none() {
        reader.report(&entry.origin, name, format!("it is a table: write [{name}]"));
    }
    Some((entry.table()?, &entry.origin))
}

/// Reports a metric that no problem of these groups has. Where the problems are not all known, for
/// which there is a message already, neither are their metrics.
fn check_metric(reader: &mut Reader<'_>, name: &str, key: &str, origin: &Origin, groups: &[Group]) {
    if groups.is_empty() || groups.iter().any(|group| group.problem.kind.is_empty()) {
        return;
    }
    let known = known_for(groups.iter().map(|group| group.problem.kind.as_str()));
    if !known.contains(&name) {
        let message = format!("there is no metric \"{name}\"; {}", suggest(name, known.iter().copied()));
        reader.report(origin, key, message);
    }
}
