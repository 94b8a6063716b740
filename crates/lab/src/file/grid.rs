//! Grids: a list in place of a value stands for one cell for each of its items.

use std::collections::{BTreeMap, BTreeSet};

use fabnet_core::settings::Value;

use super::diagnostic::Diagnostic;
use super::tree::{Entry, Node, Table};
use crate::number::grouped;
use crate::plan::Origin;

/// A table with one item chosen from each of its lists.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The table as typed, without lists.
    pub(super) table: Table,
    /// The dotted paths of the lists, with the values that were chosen.
    pub(super) chosen: Vec<(String, Value)>,
}

/// The largest number of cells that an algorithm's grid may have.
const LARGEST: usize = 100_000;

/// Every combination of choices; the first list varies slowest.
pub(super) fn expand(table: &Table) -> Result<Vec<Cell>, Diagnostic> {
    let mut cells = vec![Cell { table: table.clone(), chosen: Vec::new() }];
    // Items of a list may be tables with lists of their own, so that cells differ in the lists that
    // are left.
    while cells.iter().any(|cell| first_list(&cell.table, "").is_some()) {
        let mut next = Vec::new();
        for cell in cells {
            choose(cell, &mut next)?;
        }
        cells = next;
    }
    Ok(cells)
}

/// Chooses each item of a cell's first list, and adds the resulting cells.
fn choose(cell: Cell, cells: &mut Vec<Cell>) -> Result<(), Diagnostic> {
    let Cell { mut table, chosen } = cell;
    let Some((path, origin)) = first_list(&table, "") else {
        cells.push(Cell { table, chosen });
        return Ok(());
    };
    let list = take_list(&mut table, &path);
    let refuse = |message: String| Err(Diagnostic { origin: origin.clone(), key: path.clone(), message });
    if list.is_empty() {
        return refuse("an empty list leaves nothing to run: give at least one value".to_owned());
    }
    if cells.len() + list.len() > LARGEST {
        return refuse(format!("the grid has more than {} cells: shorten its lists", grouped(LARGEST)));
    }
    let differing = differing(&list);
    for item in list {
        let more = choice(&path, &item, &differing)?;
        let mut table = table.clone();
        replace(&mut table, &path, item);
        cells.push(Cell { table, chosen: chosen.iter().cloned().chain(more).collect() });
    }
    Ok(())
}

/// Finds the first list of a table: its dotted path and where it was typed.
fn first_list(table: &Table, prefix: &str) -> Option<(String, Origin)> {
    table.0.iter().find_map(|(key, entry)| match &entry.node {
        Node::List(_) => Some((format!("{prefix}{key}"), entry.origin.clone())),
        Node::Table(inner) => first_list(inner, &format!("{prefix}{key}.")),
        Node::Value(_) => None,
    })
}

/// Takes a list out of a table, and leaves an empty one in its place.
fn take_list(table: &mut Table, path: &str) -> Vec<Entry> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match table.0.iter_mut().find(|(known, _)| known == first).map(|(_, entry)| &mut entry.node) {
        Some(Node::Table(inner)) => take_list(inner, rest),
        Some(Node::List(list)) => std::mem::take(list),
        _ => Vec::new(),
    }
}

/// Puts an item in the place of a list.
fn replace(table: &mut Table, path: &str, item: Entry) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some((_, entry)) = table.0.iter_mut().find(|(known, _)| known == first) else { return };
    match &mut entry.node {
        Node::Table(inner) if !rest.is_empty() => replace(inner, rest, item),
        _ => *entry = item,
    }
}

/// The dotted paths in which the tables of a list differ; a list of values has none.
fn differing(list: &[Entry]) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, (&Node, usize)> = BTreeMap::new();
    let mut differing = BTreeSet::new();
    for (path, entry) in list.iter().filter_map(Entry::table).flat_map(Table::leaves) {
        let (first, times) = seen.entry(path.clone()).or_insert((&entry.node, 0));
        *times += 1;
        if *first != &entry.node {
            differing.insert(path);
        }
    }
    differing.extend(seen.into_iter().filter(|(_, (_, times))| *times < list.len()).map(|(path, _)| path));
    differing
}

/// The choice that an item of a list stands for: its value, or the values of a table in which the
/// items of the list differ.
fn choice(path: &str, item: &Entry, differing: &BTreeSet<String>) -> Result<Vec<(String, Value)>, Diagnostic> {
    match &item.node {
        Node::Value(value) => Ok(vec![(path.to_owned(), value.clone())]),
        Node::List(_) => Err(Diagnostic {
            origin: item.origin.clone(),
            key: path.to_owned(),
            message: "a list in a list: a grid is a list of values, or of tables for coupled values".to_owned(),
        }),
        Node::Table(table) => {
            let leaves = table.leaves().into_iter().filter(|(key, _)| differing.contains(key));
            let values = leaves.filter_map(|(key, entry)| match &entry.node {
                Node::Value(value) => Some((format!("{path}.{key}"), value.clone())),
                _ => None,
            });
            Ok(values.collect())
        }
    }
}
