//! Keys of a file that no part asks for.

use std::collections::BTreeSet;

use crate::mistake::{Origin, suggest};
use crate::tree::{Entry, Table};

/// For how many unknown keys of a table the nearest known one is looked up; more are not printed.
const SUGGESTIONS: usize = 50;

/// A key that no part asks for.
pub(crate) struct Unknown<'t> {
    /// Its dotted path in the table.
    pub(crate) path: String,
    /// Where it was typed.
    pub(crate) origin: &'t Origin,
    /// What to do about it.
    pub(crate) message: String,
}

/// The unknown keys of a table: neither `asked` for, nor `others`, which are read elsewhere with all that they contain.
pub(crate) fn unknown<'t>(table: &'t Table, asked: &[&str], others: &[&str]) -> Vec<Unknown<'t>> {
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
    let known = asked.iter().chain(others).copied();
    let answer = |(number, (path, entry)): (usize, (String, &'t Entry))| {
        let remedy = if number < SUGGESTIONS { format!("; {}", suggest(&path, known.clone())) } else { String::new() };
        Unknown { message: format!("unknown key{remedy}"), path, origin: &entry.origin }
    };
    found.into_iter().enumerate().map(answer).collect()
}

fn head(key: &str) -> &str {
    key.split('.').next().unwrap_or_default()
}
