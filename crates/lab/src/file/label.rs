//! Labels: the names of groups in tables and figures.

use std::collections::{BTreeMap, BTreeSet};

use fabnet_core::settings::Value;

use super::grid::Cell;

/// The labels of a plan, all of them different.
#[derive(Default)]
pub(super) struct Labels {
    taken: BTreeSet<String>,
    /// The highest number that was added to each label to make it different from others.
    numbers: BTreeMap<String, usize>,
}

impl Labels {
    /// Returns the label, with a number if another group has it already.
    pub(super) fn unused(&mut self, label: String) -> String {
        if self.taken.insert(label.clone()) {
            return label;
        }
        let number = self.numbers.entry(label.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{label} ({number})");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Returns a label with the values that distinguish its cell from the others of the grid.
pub(super) fn full_label(label: &str, cell: &Cell) -> String {
    let choice = |(path, value): &(String, Value)| {
        let name = path.rsplit('.').next().unwrap_or(path);
        match value {
            Value::Text(kind) if path == "algorithm.kind" && kind == label => String::new(),
            Value::Text(kind) if name == "kind" => format!(" {kind}"),
            // A text of several lines, such as a contact plan, is no name.
            Value::Text(text) if text.contains(char::is_control) => String::new(),
            Value::Text(text) => format!(" {name}={text}"),
            value => format!(" {name}={value}"),
        }
    };
    std::iter::once(label.to_owned()).chain(cell.chosen.iter().map(choice)).collect()
}
