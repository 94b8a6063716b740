//! Labels: what groups of runs are called in tables and figures.

use std::collections::{BTreeMap, BTreeSet};

use fabnet_core::settings::Value;

use crate::grid::Cell;

/// The labels of a plan, no two alike.
#[derive(Default)]
pub(crate) struct Labels {
    taken: BTreeSet<String>,
    /// The highest number that each label was given to tell it from others.
    numbers: BTreeMap<String, usize>,
}

impl Labels {
    /// The label, numbered if another group has it.
    pub(crate) fn unused(&mut self, label: String) -> String {
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

/// A label, and what tells its cell from others.
pub(crate) fn full_label(label: &str, cell: &Cell) -> String {
    let choice = |(path, value): &(String, Value)| {
        let name = path.rsplit('.').next().unwrap_or(path);
        match value {
            Value::Text(kind) if path == "algorithm.kind" && kind == label => String::new(),
            Value::Text(kind) if name == "kind" => format!(" {kind}"),
            // A whole contact plan is no name.
            Value::Text(text) if text.contains(char::is_control) => String::new(),
            Value::Text(text) => format!(" {name}={text}"),
            value => format!(" {name}={value}"),
        }
    };
    std::iter::once(label.to_owned()).chain(cell.chosen.iter().map(choice)).collect()
}
