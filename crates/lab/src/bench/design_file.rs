//! The file of a design, as it is read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::statement::Statement;

/// The fixed part of a design file. Sections that become parts of experiments are read by the
/// readers of experiments; here they only have to be there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DesignFile {
    pub(super) name: String,
    /// The largest number of rounds of a run.
    pub(super) rounds: u64,
    /// The number of rounds between two records.
    pub(super) every: u64,
    /// The metric that has to fall.
    pub(super) metric: String,
    /// The values to fall below, the easiest first.
    pub(super) targets: Vec<f64>,
    /// The seeds that methods are judged on.
    pub(super) seeds: Vec<u64>,
    pub(super) tuning: Tuning,
    /// The numbers of agents of the full product.
    pub(super) agents: Vec<usize>,
    pub(super) problems: BTreeMap<String, ProblemEntry>,
    #[serde(rename = "networks")]
    _networks: BTreeMap<String, NetworkEntry>,
    pub(super) conditions: BTreeMap<String, ConditionEntry>,
    pub(super) methods: BTreeMap<String, MethodEntry>,
    /// What the standard size consists of.
    pub(super) standard: Vec<CellBlock>,
    #[serde(default, rename = "statement")]
    pub(super) statements: Vec<Statement>,
}

/// How step sizes are found.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tuning {
    /// The seeds that settings are compared on; none of them is a test seed.
    pub(super) seeds: Vec<u64>,
    /// The number of settings that are tried, each on all of these seeds.
    pub(super) trials: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProblemEntry {
    #[serde(rename = "problem")]
    _problem: IgnoredAny,
    /// Whether a bilevel method solves it, or one for a single level.
    pub(super) bilevel: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkEntry {
    #[serde(rename = "topology")]
    _topology: IgnoredAny,
    #[serde(rename = "weights")]
    _weights: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionEntry {
    /// What it is, for the page.
    pub(super) about: String,
    #[serde(rename = "faults")]
    _faults: Option<IgnoredAny>,
    #[serde(rename = "wire")]
    _wire: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MethodEntry {
    #[serde(rename = "algorithm")]
    _algorithm: IgnoredAny,
    /// Whether its step sizes are tuned; with `false` they are taken as given.
    #[serde(default = "yes")]
    pub(super) tuned: bool,
    /// The paper, if its recursion could not be confirmed from the paper's text.
    pub(super) reading_of: Option<String>,
    /// Settings with which the method meets a condition itself, by the name of the condition.
    #[serde(default)]
    pub(super) own: BTreeMap<String, toml::Table>,
}

fn yes() -> bool {
    true
}

/// A product of cells. What is not given stands for all there are.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellBlock {
    pub(super) problems: Option<Vec<String>>,
    pub(super) networks: Option<Vec<String>>,
    pub(super) conditions: Option<Vec<String>>,
    pub(super) methods: Option<Vec<String>>,
    pub(super) agents: Option<Vec<usize>>,
}
