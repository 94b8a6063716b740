//! Experiments: a file as typed, which becomes a resolved plan or a list of diagnostics.

use std::path::{Path, PathBuf};

use fabnet_core::settings::Value;

use super::diagnostic::Diagnostics;
use super::resolver::resolve;
use super::tree::{Entry, Node, Table};
use crate::plan::{Origin, Plan};

/// An experiment file as typed.
#[derive(Clone, Debug)]
pub struct Experiment {
    file: PathBuf,
    root: Table,
}

impl Experiment {
    /// Reads an experiment file.
    pub fn read(file: &Path) -> Result<Self, Diagnostics> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let hint = if file.is_dir() { "it is a folder, give the file in it" } else { "check the path" };
            Diagnostics::one(file, Origin::Missing, "", format!("cannot be read ({error}): {hint}"))
        })?;
        Self::parse(&text, file)
    }

    /// Parses the text of an experiment file; paths in it are relative to the file's folder.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Diagnostics> {
        Ok(Self { file: file.to_owned(), root: Table::parse(text, file)? })
    }

    /// Changes a value as `--set key=value` does, with a dotted path into the file.
    pub fn set(&mut self, assignment: &str) -> Result<(), Diagnostics> {
        self.root.set(assignment, &self.file)
    }

    /// Replaces the seeds by a number of seeds or a range, as `--seeds` does.
    pub fn set_seeds(&mut self, seeds: &str) {
        let origin = Origin::Flag(format!("--seeds {seeds}"));
        let value = seeds.parse().map_or_else(|_| Value::from(seeds), Value::Whole);
        self.root.put("seeds", Entry { node: Node::Value(value), origin });
    }

    /// Resolves every value.
    pub fn plan(&self) -> Result<Plan, Diagnostics> {
        resolve(&self.root, &self.file)
    }
}
