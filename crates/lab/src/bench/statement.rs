//! Statements of papers that the benchmark judges.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::cell::BenchCell;
use super::results::CostAtTarget;

/// A statement: one side needs less of something than the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    /// Whose statement it is.
    pub(super) paper: String,
    /// What is stated, in one sentence.
    pub(super) says: String,
    /// What is counted.
    pub(super) by: Cost,
    /// Until the metric is below this.
    pub(super) target: f64,
    /// The paper, if what stands for its method here is not its method to the letter.
    pub(super) reading_of: Option<String>,
    /// The problems on which it is judged; all if not given.
    problems: Option<Vec<String>>,
    /// The networks on which it is judged; all if not given.
    networks: Option<Vec<String>>,
    pub(super) better: StatementSide,
    pub(super) worse: StatementSide,
}

/// One side of a statement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementSide {
    pub(super) method: String,
    #[serde(default = "exact")]
    pub(super) condition: String,
    /// What the cost of this side is multiplied by, for statements with a factor.
    #[serde(default = "one")]
    pub(super) times: f64,
}

fn exact() -> String {
    "exact".to_owned()
}

fn one() -> f64 {
    1.0
}

/// What is counted until a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Cost {
    Rounds,
    Gradients,
    Bytes,
    Seconds,
}

impl Cost {
    pub(super) const ALL: [Self; 4] = [Self::Rounds, Self::Gradients, Self::Bytes, Self::Seconds];

    /// The name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Gradients => "gradients",
            Self::Bytes => "bytes",
            Self::Seconds => "seconds",
        }
    }

    /// What it took.
    pub(super) fn of(self, at: &CostAtTarget) -> f64 {
        match self {
            Self::Rounds => at.rounds,
            Self::Gradients => at.gradients,
            Self::Bytes => at.bytes,
            Self::Seconds => at.seconds,
        }
    }
}

impl Statement {
    /// The pairs of cells that it compares, among those of the design.
    pub(super) fn pairs(&self, cells: &BTreeSet<BenchCell>) -> Vec<[BenchCell; 2]> {
        let within =
            |names: &Option<Vec<String>>, name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        let judged = |cell: &&BenchCell| {
            (&cell.method, &cell.condition) == (&self.better.method, &self.better.condition)
                && within(&self.problems, &cell.problem)
                && within(&self.networks, &cell.network)
        };
        let pair = |cell: &BenchCell| {
            let other = BenchCell {
                method: self.worse.method.clone(),
                condition: self.worse.condition.clone(),
                ..cell.clone()
            };
            cells.contains(&other).then(|| [cell.clone(), other])
        };
        cells.iter().filter(judged).filter_map(pair).collect()
    }

    /// The cells that it is about, among those of the design.
    pub(super) fn cells(&self, cells: &BTreeSet<BenchCell>) -> Vec<BenchCell> {
        self.pairs(cells).into_iter().flatten().collect()
    }

    /// The names that it uses, each with its section.
    pub(super) fn named(&self) -> Vec<(&'static str, String)> {
        let sides = [&self.better, &self.worse];
        let sides = sides.into_iter().flat_map(|side| [("methods", &side.method), ("conditions", &side.condition)]);
        let problems = self.problems.iter().flatten().map(|name| ("problems", name));
        let networks = self.networks.iter().flatten().map(|name| ("networks", name));
        sides.chain(problems).chain(networks).map(|(section, name)| (section, name.clone())).collect()
    }
}
