//! Results of the benchmark: a file that others can add to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fabnet_files::Files;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::cell::BenchCell;
use super::error::BenchError;
use super::machine::Machine;
use crate::results::Outcome;

/// The results of cells, and the machines on which they were carried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchResults {
    /// The version of the format.
    pub format: u64,
    /// The machines by name.
    pub machines: BTreeMap<String, Machine>,
    /// The cells, each at most once.
    pub cells: Vec<CellResult>,
}

/// The result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// The cell that was carried out.
    pub cell: BenchCell,
    /// What the design says of the cell, as a number: results of another design have another one.
    pub digest: String,
    /// The name of the machine.
    pub machine: String,
    /// Why the method cannot be run here; then there are no runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The number of settings that were tried.
    pub trials: usize,
    /// The settings of the method in the runs.
    pub settings: Map<String, Json>,
    /// A run for each test seed.
    pub runs: Vec<TestRun>,
}

/// A run on a test seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRun {
    /// The seed of the run.
    pub seed: u64,
    /// How the run ended.
    pub outcome: Outcome,
    /// The number of rounds that were carried out.
    pub rounds: u64,
    /// The last value of the metric; null if it is not finite.
    pub last: Option<f64>,
    /// The targets that were reached, and what that took.
    pub reached: Vec<CostAtTarget>,
}

/// What it took to reach a target for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostAtTarget {
    /// The value that the metric fell below.
    pub target: f64,
    /// The number of rounds.
    pub rounds: f64,
    /// Gradients of both levels and products with second derivatives, of an agent on average.
    pub gradients: f64,
    /// Bytes of scalars and mass that an agent sent, on average.
    pub bytes: f64,
    /// Seconds spent in rounds, of all agents together.
    pub seconds: f64,
}

impl BenchResults {
    /// The version of the format.
    pub const FORMAT: u64 = 1;

    /// A file without any results yet.
    pub fn empty() -> Self {
        Self { format: Self::FORMAT, ..Self::default() }
    }

    /// Reads a file of results, or nothing if there is no such file.
    pub fn read_if_there(files: &dyn Files, path: &Path) -> Result<Option<Self>, BenchError> {
        let text = files.read_if_there(path).map_err(|error| BenchError::files(path, error))?;
        text.map(|text| Self::parse(&text, path)).transpose()
    }

    /// Reads a file of results.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, BenchError> {
        let reason = "there is no such file: check the path".to_owned();
        let missing = || BenchError::Form { path: path.to_owned(), reason };
        Self::read_if_there(files, path)?.ok_or_else(missing)
    }

    /// Parses and checks the contents of a file.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, BenchError> {
        let wrong = |reason: String| BenchError::Form { path: path.to_owned(), reason };
        let results: Self = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        results.check().map_err(wrong)?;
        Ok(results)
    }

    /// What the form alone does not rule out.
    fn check(&self) -> Result<(), String> {
        if self.format != Self::FORMAT {
            return Err(format!("its format is {}, and this program reads {}", self.format, Self::FORMAT));
        }
        let mut seen = BTreeSet::new();
        for result in &self.cells {
            let wrong = |reason: &str| Err(format!("{}: {reason}", result.cell));
            if !self.machines.contains_key(&result.machine) {
                return wrong("its machine is not described");
            }
            if !seen.insert(&result.cell) {
                return wrong("it is there twice");
            }
            if result.refused.is_some() != result.runs.is_empty() {
                return wrong("a cell has either runs or a reason why it was refused");
            }
            let costs = result.runs.iter().flat_map(|run| &run.reached);
            let numbers = costs.flat_map(|at| [at.target, at.rounds, at.gradients, at.bytes, at.seconds]);
            if numbers.into_iter().any(|number| !(0.0..f64::INFINITY).contains(&number)) {
                return wrong("a cost is negative");
            }
        }
        Ok(())
    }

    /// Writes the results to a file, a line for each cell.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), BenchError> {
        let text = self.to_json().map_err(|error| BenchError::files(path, error.into()))?;
        files.write_whole(path, text.as_bytes()).map_err(|error| BenchError::files(path, error))
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut cells: Vec<&CellResult> = self.cells.iter().collect();
        cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        let cells: Vec<String> = cells.into_iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let machines = serde_json::to_string(&self.machines)?;
        Ok(format!(
            "{{\n\"format\": {},\n\"machines\": {machines},\n\"cells\": [\n{}\n]\n}}\n",
            self.format,
            cells.join(",\n")
        ))
    }

    /// The result of a cell, if it is there.
    pub fn of(&self, cell: &BenchCell) -> Option<&CellResult> {
        self.cells.iter().find(|result| result.cell == *cell)
    }

    /// Puts a result in, in place of an earlier one of the same cell.
    pub fn put(&mut self, result: CellResult) {
        self.cells.retain(|known| known.cell != result.cell);
        self.cells.push(result);
    }

    /// Takes over the cells of others that are not here yet, and returns how many these are. A
    /// machine whose name means another one here gets a new name.
    pub fn merge(&mut self, others: Self) -> usize {
        let mut names = BTreeMap::new();
        for (name, machine) in others.machines {
            let numbered = (2..).map(|number| format!("{name}-{number}"));
            let mut candidates = std::iter::once(name.clone()).chain(numbered);
            let free = |new: &String| self.machines.get(new).is_none_or(|known| *known == machine);
            let new = candidates.find(free).unwrap_or_else(|| name.clone());
            self.machines.insert(new.clone(), machine);
            names.insert(name, new);
        }
        let fresh: Vec<CellResult> =
            others.cells.into_iter().filter(|result| self.of(&result.cell).is_none()).collect();
        let added = fresh.len();
        for mut result in fresh {
            if let Some(name) = names.get(&result.machine) {
                result.machine.clone_from(name);
            }
            self.cells.push(result);
        }
        added
    }
}
