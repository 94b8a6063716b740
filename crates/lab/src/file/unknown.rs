//! Keys of a file that no part of the program reads.

use std::collections::BTreeSet;

use super::diagnostic::suggest;
use super::tree::{Entry, Table};
use crate::plan::Origin;

/// The number of unknown keys of a table for which the nearest known key is searched; further ones
/// are not printed.
const SUGGESTIONS: usize = 50;

/// A key that no part of the program reads.
pub(super) struct UnknownKey<'t> {
    /// The dotted path of the key in its table.
    pub(super) path: String,
    /// Where the key was typed.
    pub(super) origin: &'t Origin,
    /// What to do about it.
    pub(super) message: String,
}

/// Finds the unknown keys of a table. Known are those that were `asked` for, and those in `others`,
/// which are read elsewhere with everything that they contain.
pub(super) fn unknown_keys<'t>(table: &'t Table, asked: &[&str], others: &[&str]) -> Vec<UnknownKey<'t>> {
    let known = asked.iter().chain(others).copied();
    let answer = |(number, (path, entry)): (usize, (String, &'t Entry))| {
        let remedy = if number < SUGGESTIONS { format!("; {}", suggest(&path, known.clone())) } else { String::new() };
        UnknownKey { message: format!("unknown key{remedy}"), path, origin: &entry.origin }
    };
    unasked(table, asked, others).into_iter().enumerate().map(answer).collect()
}

/// The entries of a table that are not known, with their dotted paths.
fn unasked<'t>(table: &'t Table, asked: &[&str], others: &[&str]) -> Vec<(String, &'t Entry)> {
    let known: BTreeSet<&str> = asked.iter().copied().collect();
    let heads: BTreeSet<&str> = asked.iter().map(|key| head(key)).collect();
    let mut found: Vec<(String, &Entry)> = Vec::new();
    for (key, entry) in &table.0 {
        if others.contains(&key.as_str()) {
        } else if !heads.contains(key.as_str()) {
            found.push((key.clone(), entry));
        } else if let Some(inner) = entry.table() {
            let paths = inner.leaves().into_iter().map(|(rest, entry)| (format!("{key}.{rest}"), entry));
            found.extend(paths.filter(|(path, _)| !known.contains(path.as_str())));
        } else if !known.contains(key.as_str()) {
            found.push((key.clone(), entry));
        }
    }
    found
}

/// The first part of a dotted key.
fn head(key: &str) -> &str {
    key.split('.').next().unwrap_or_default()
}
