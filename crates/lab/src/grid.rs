//! Grids: a list in place of a value means one cell for each of its items.

use fabnet_core::settings::Value;

use crate::mistake::{Mistake, Origin};
use crate::tree::{Entry, Node, Table};

/// One choice of every list.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// What was typed, without lists.
    pub(crate) table: Table,
    /// What was chosen from: dotted paths and values.
    pub(crate) chosen: Vec<(String, Value)>,
}

/// Every combination; the first list varies slowest.
pub(crate) fn expand(table: &Table) -> Result<Vec<Cell>, Mistake> {
    let Some((path, list, origin)) = first_list(table, "") else {
        return Ok(vec![Cell { table: table.clone(), chosen: Vec::new() }]);
    };
    if list.is_empty() {
        let message = "an empty list leaves nothing to run: give at least one value";
        return Err(Mistake { origin, key: path, message: message.to_owned() });
    }
    let mut cells = Vec::new();
    for item in &list {
        let mut table = table.clone();
        replace(&mut table, &path, item.clone());
        let chosen = chosen(&path, item, &list)?;
        for mut cell in expand(&table)? {
            cell.chosen.splice(0..0, chosen.iter().cloned());
            cells.push(cell);
        }
    }
    Ok(cells)
}

fn first_list(table: &Table, prefix: &str) -> Option<(String, Vec<Entry>, Origin)> {
    table.0.iter().find_map(|(key, entry)| {
        let path = format!("{prefix}{key}");
        match &entry.node {
            Node::List(list) => Some((path, list.clone(), entry.origin.clone())),
            Node::Table(inner) => first_list(inner, &format!("{path}.")),
            Node::Value(_) => None,
        }
    })
}

fn replace(table: &mut Table, path: &str, item: Entry) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some((_, entry)) = table.0.iter_mut().find(|(known, _)| known == first) else { return };
    match &mut entry.node {
        Node::Table(inner) if !rest.is_empty() => replace(inner, rest, item),
        _ => *entry = item,
    }
}

/// What an item of a list says: its value, or of a table those values in which the items differ.
fn chosen(path: &str, item: &Entry, list: &[Entry]) -> Result<Vec<(String, Value)>, Mistake> {
    match &item.node {
        Node::Value(value) => Ok(vec![(path.to_owned(), value.clone())]),
        Node::List(_) => Err(Mistake {
            origin: item.origin.clone(),
            key: path.to_owned(),
            message: "a list in a list: a grid is a list of values, or of tables for coupled values".to_owned(),
        }),
        Node::Table(table) => {
            let same = |key: &str, entry: &Entry| {
                list.iter()
                    .all(|other| other.table().and_then(|other| other.find(key)).map(|e| &e.node) == Some(&entry.node))
            };
            let differing = table.leaves().into_iter().filter(|(key, entry)| !same(key, entry));
            let values = differing.filter_map(|(key, entry)| match &entry.node {
                Node::Value(value) => Some((format!("{path}.{key}"), value.clone())),
                _ => None,
            });
            Ok(values.collect())
        }
    }
}
