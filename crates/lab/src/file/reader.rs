//! Reading the settings of one table of a file, and collecting what is wrong with them.

use std::path::{Path, PathBuf};

use fabnet_core::settings::{Accepts, Setting, SettingsReader, SettingsSource, Value};

use super::diagnostic::Diagnostic;
use super::tree::{Node, Table};
use super::unknown::unknown_keys;
use crate::plan::{EntryOrigin, Origin, PlanEntry, TextOrigin};

/// Reads the tables of a file. Reading never stops at a mistake.
pub(super) struct Reader<'a> {
    /// The experiment file.
    pub(super) file: &'a Path,
    /// Everything that is wrong so far.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A table of a file, with what is to be known about it to read its settings.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// The table as typed.
    pub(super) table: &'a Table,
    /// The name of the table; empty for the top level.
    pub(super) section: &'a str,
    /// Where the table was typed.
    pub(super) origin: &'a Origin,
    /// Keys of the table that are read elsewhere.
    pub(super) others: &'a [&'a str],
}

impl<'a> Reader<'a> {
    /// Adds a diagnostic.
    pub(super) fn report(&mut self, origin: &Origin, key: &str, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic { origin: origin.clone(), key: key.to_owned(), message: message.into() });
    }

    /// Reads settings from a table, and reports keys that are neither read nor read elsewhere.
    pub(super) fn read<R>(
        &mut self,
        source: Source<'_>,
        read: impl FnOnce(&mut SettingsReader<'_>) -> R,
    ) -> (R, Vec<Setting>) {
        let Source { table, origin, others, .. } = source;
        let given = TypedTable { table, folder: self.folder() };
        let mut keys = SettingsReader::new(&given);
        let result = read(&mut keys);
        let asked: Vec<&str> = keys.asked().iter().map(|key| key.name.as_str()).collect();
        let unknown = unknown_keys(table, &asked, others);
        for mistake in &keys.mistakes {
            // A table with a misspelt key lacks the right one: only the misspelling is reported.
            let inner = format!("{}.", mistake.key);
            if !unknown.iter().any(|key| key.path.starts_with(&inner)) {
                let origin = table.find(&mistake.key).map_or(origin, |entry| &entry.origin);
                self.report(origin, &source.dotted(&mistake.key), &*mistake.message);
            }
        }
        for key in unknown {
            self.report(key.origin, &source.dotted(&key.path), key.message);
        }
        (result, keys.into_asked())
    }

    /// Reads a whole entry of a plan from a table.
    pub(super) fn read_entry<R>(
        &mut self,
        kind: &str,
        source: Source<'_>,
        read: impl FnOnce(&mut SettingsReader<'_>) -> R,
    ) -> PlanEntry {
        let (_, asked) = self.read(source, read);
        let texts = asked.iter().filter_map(|key| self.text_origin(source, key)).collect();
        let settings = asked.into_iter().filter_map(|key| Some((key.name, key.value?))).collect();
        PlanEntry { kind: kind.to_owned(), settings, origin: EntryOrigin { file: Some(self.file.to_owned()), texts } }
    }

    /// Where a text was typed that a key names as a file, or that another key gives in its place.
    fn text_origin(&self, source: Source<'_>, key: &Setting) -> Option<TextOrigin> {
        let Accepts::File { instead_of } = &key.accepts else { return None };
        let typed = TypedTable { table: source.table, folder: self.folder() };
        let read_from = match typed.get(&key.name) {
            Some(Value::Text(path)) => Some(typed.path(&path)),
            _ => None,
        };
        let name = if read_from.is_some() { &key.name } else { instead_of };
        let origin = source.table.find(name)?.origin.clone();
        Some(TextOrigin { key: source.dotted(name), origin, read_from })
    }

    /// The folder that paths in the file are relative to.
    fn folder(&self) -> &'a Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

impl Source<'_> {
    /// The key with its section.
    fn dotted(&self, key: &str) -> String {
        if self.section.is_empty() { key.to_owned() } else { format!("{}.{key}", self.section) }
    }
}

/// A table that settings are read from.
struct TypedTable<'a> {
    table: &'a Table,
    /// The folder that paths are relative to.
    folder: &'a Path,
}

impl TypedTable<'_> {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

impl SettingsSource for TypedTable<'_> {
    fn get(&self, key: &str) -> Option<Value> {
        match &self.table.find(key)?.node {
            Node::Value(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let path = self.path(path);
        std::fs::read_to_string(&path).map_err(|error| format!("`{}` cannot be read ({error})", path.display()))
    }
}
