//! The resolved plan: every value that a run depends on, with nothing left to choose.

mod entry;
mod job;
mod origin;
mod plan_file;

use fabnet_core::settings::{SettingsSource, Value};
use fabnet_core::topology::automatic;

pub use entry::PlanEntry;
pub use job::Job;
pub(crate) use origin::TextOrigin;
pub use origin::{EntryOrigin, Location, Origin};
pub(crate) use plan_file::to_toml;

/// What an experiment file resolves to: groups of runs that differ only in the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The name of the experiment.
    pub name: String,
    /// The seeds: each group has one run for each of them.
    pub seeds: Vec<u64>,
    /// The number of rounds between two records.
    pub every: u64,
    /// The names of the metrics that are recorded.
    pub metrics: Vec<String>,
    /// Which solutions runs write to files.
    pub solutions: SavedSolutions,
    /// The target that ends a run early, if there is one.
    pub target: Option<Target>,
    /// The groups, one for each `[[algorithm]]` and cell of its grid.
    pub groups: Vec<Group>,
}

/// The target of `[stop]`: a run ends as soon as it is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The metric that is compared.
    pub metric: String,
    /// The value below which the metric has to fall.
    pub below: f64,
}

/// Runs that differ only in the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The name of the group in tables and figures.
    pub label: String,
    /// The dotted paths outside of the algorithm that differ between groups.
    pub grid: Vec<String>,
    /// The number of agents.
    pub agents: usize,
    /// The largest number of rounds.
    pub rounds: u64,
    /// The rounds at the end in which agents mix only; none if the problem decides.
    pub settle: Option<u64>,
    /// The type of the scalars.
    pub precision: Precision,
    /// The problem that is solved.
    pub problem: PlanEntry,
    /// The topology: which agents receive from which.
    pub topology: PlanEntry,
    /// The mixing weights of the links.
    pub weights: PlanEntry,
    /// The faults of simulated links; without them agents mix exactly.
    pub faults: Option<PlanEntry>,
    /// How the nodes of a real network make rounds.
    pub network: Option<PlanEntry>,
    /// How scalars travel between peers with ledgers and between real nodes.
    pub wire: Option<PlanEntry>,
    /// The method that solves the problem.
    pub algorithm: PlanEntry,
}

/// The type of a run's scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Double precision, 64 bits.
    F64,
    /// Single precision, 32 bits.
    F32,
}

/// Which solutions a run writes to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SavedSolutions {
    /// No solution at all.
    None,
    /// The mean over agents.
    #[default]
    Mean,
    /// The mean, and the solution of each agent with its private coordinates.
    All,
}

/// Why a plan cannot be used where exactly one run is wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitPlan {
    /// The plan has several runs, or none.
    #[error("{name}: {runs} runs; this takes one run: choose one seed (`seeds = 1`), one [[algorithm]] and no grid")]
    Several {
        /// The name of the experiment.
        name: String,
        /// The number of its runs.
        runs: usize,
    },
    /// The plan has simulated faults, but the links are real. The field is the experiment's name.
    #[error(
        "{0}: [faults] are those of simulated links: leave them out; real ones lose messages with --loss, \
         or `loss` in a node's file"
    )]
    Faults(String),
}

impl Plan {
    /// The version of the format of `plan.toml`.
    pub const FORMAT: u64 = 1;

    /// The group and the seed of every run, in the order of the runs' numbers.
    pub fn runs(&self) -> impl Iterator<Item = (&Group, u64)> {
        self.groups.iter().flat_map(|group| self.seeds.iter().map(move |&seed| (group, seed)))
    }

    /// The only run; an error if there is not exactly one.
    pub fn only_run(&self) -> Result<(&Group, u64), UnfitPlan> {
        let mut runs = self.runs();
        match (runs.next(), runs.next()) {
            (Some(run), None) => Ok(run),
            _ => Err(UnfitPlan::Several { name: self.name.clone(), runs: self.runs().count() }),
        }
    }

    /// The only run, which real nodes are to carry out; an error if it has simulated faults. Its
    /// group has a `[network]`, whether or not the file has one: messages may be lost.
    pub fn real_run(&self) -> Result<(Group, u64), UnfitPlan> {
        let (group, seed) = self.only_run()?;
        if group.faults.is_some() {
            return Err(UnfitPlan::Faults(self.name.clone()));
        }
        let network = Some(group.network.clone().unwrap_or_default());
        Ok((Group { network, ..group.clone() }, seed))
    }

    /// What was chosen where the file leaves a choice, and why, in words.
    pub fn choices(&self) -> Vec<String> {
        let chosen = self.groups.iter().filter(|group| group.topology.kind == "auto");
        let mut said: Vec<String> = chosen.map(|group| format!("topology: {}", automatic(group.agents).1)).collect();
        said.dedup();
        said
    }
}

impl Group {
    /// The setting `settle`, as users write it.
    pub(crate) fn settled(&self) -> Value {
        self.settle.map_or_else(|| Value::from("auto"), |rounds| Value::Whole(rounds.cast_signed()))
    }

    /// Looks up a value by its dotted path in the experiment file.
    pub fn value(&self, path: &str) -> Option<Value> {
        let (section, key) = path.split_once('.').unwrap_or((path, ""));
        let entry = match section {
            "agents" => return Some(Value::Whole((self.agents as u64).cast_signed())),
            "rounds" => return Some(Value::Whole(self.rounds.cast_signed())),
            "settle" => return Some(self.settled()),
            "precision" => return Some(Value::from(self.precision.name())),
            "problem" => &self.problem,
            "topology" => &self.topology,
            "weights" => &self.weights,
            "faults" => self.faults.as_ref()?,
            "network" => self.network.as_ref()?,
            "wire" => self.wire.as_ref()?,
            "algorithm" => &self.algorithm,
            _ => return None,
        };
        entry.get(key)
    }
}

impl Precision {
    /// The name that users write in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }
}

impl SavedSolutions {
    /// The names that users write in a file; the first one is the default.
    pub(crate) const NAMES: [(&'static str, Self); 3] =
        [("mean", Self::Mean), ("none", Self::None), ("all", Self::All)];

    /// The name that users write in a file.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}
