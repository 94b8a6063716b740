//! The resolved plan: every value that a run depends on, with nothing left to choose.

use std::fmt::Write;

use fabnet_core::settings::{Given, Value};

use crate::file_name::file_names;
use crate::problem::problems;
use crate::setup::SetupError;
use crate::solution::Solutions;
use fabnet_core::topology::automatic;

/// What an experiment comes down to: groups of runs that differ in the seed only.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The name of the experiment.
    pub name: String,
    /// One run of each group for each of these.
    pub seeds: Vec<u64>,
    /// Rounds between two records.
    pub every: u64,
    /// What is recorded.
    pub metrics: Vec<String>,
    /// What runs leave of their answers.
    pub solutions: Solutions,
    /// What ends a run early.
    pub target: Option<Target>,
    /// The runs, seeds apart.
    pub groups: Vec<Group>,
}

/// What is to be reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// This metric …
    pub metric: String,
    /// … below this.
    pub below: f64,
}

/// Runs that differ in the seed only.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// As it is called in tables and figures.
    pub label: String,
    /// Dotted paths outside of the algorithm that differ between groups.
    pub grid: Vec<String>,
    /// How many agents.
    pub agents: usize,
    /// How many rounds at most.
    pub rounds: u64,
    /// In which scalars.
    pub precision: Precision,
    /// What is solved.
    pub problem: Part,
    /// Who hears whom.
    pub topology: Part,
    /// How much.
    pub weights: Part,
    /// What goes wrong; agents mix exactly if nothing is said.
    pub faults: Option<Part>,
    /// How real nodes make rounds.
    pub network: Option<Part>,
    /// By which method.
    pub algorithm: Part,
}

/// The scalars of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Double.
    F64,
    /// Single.
    F32,
}

/// A kind with all its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The name in its registry; empty for what has no kinds.
    pub kind: String,
    /// Every key that is set, dotted.
    pub settings: Vec<(String, Value)>,
}

/// Why a plan is not what is wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitPlan {
    /// Several runs, or none, where one is wanted.
    #[error("{name}: {runs} runs; this takes one run: choose one seed (`seeds = 1`), one [[algorithm]] and no grid")]
    Several {
        /// Of the experiment.
        name: String,
        /// How many.
        runs: usize,
    },
    /// Simulated faults, where links are real.
    #[error(
        "{0}: [faults] are those of simulated links: leave them out; real ones lose messages with --loss, or `loss` in a node's file"
    )]
    Faults(String),
}

impl Plan {
    /// The version of this format.
    pub const FORMAT: u64 = 1;

    /// A run for each group and seed, in the order of their numbers.
    pub fn runs(&self) -> impl Iterator<Item = (&Group, u64)> {
        self.groups.iter().flat_map(|group| self.seeds.iter().map(move |&seed| (group, seed)))
    }

    /// The labels of the groups as names of files, all of them different.
    pub(crate) fn file_names(&self) -> Vec<String> {
        file_names(self.groups.iter().map(|group| group.label.as_str()))
    }

    /// The only run.
    pub fn only_run(&self) -> Result<(&Group, u64), UnfitPlan> {
        let mut runs = self.runs();
        match (runs.next(), runs.next()) {
            (Some(run), None) => Ok(run),
            _ => Err(UnfitPlan::Several { name: self.name.clone(), runs: self.runs().count() }),
        }
    }

    /// The only run, for real nodes.
    pub fn real_run(&self) -> Result<(&Group, u64), UnfitPlan> {
        let run = self.only_run()?;
        if run.0.faults.is_some() { Err(UnfitPlan::Faults(self.name.clone())) } else { Ok(run) }
    }

    /// What was chosen where the file leaves a choice, and why.
    pub fn choices(&self) -> Vec<String> {
        let chosen = self.groups.iter().filter(|group| group.topology.kind == "auto");
        let mut said: Vec<String> = chosen.map(|group| format!("topology: {}", automatic(group.agents).1)).collect();
        said.dedup();
        said
    }

    /// The plan as an experiment file that resolves to itself.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        let mut line = |text: String| _ = writeln!(out, "{text}");
        line("# Every value resolved: `fabnet run` on this file repeats the run bit for bit.".into());
        line(format!("format = {}", Self::FORMAT));
        line(format!("version = {}", quoted(env!("CARGO_PKG_VERSION"))));
        line(format!("name = {}", quoted(&self.name)));
        line(format!("seeds = {:?}", self.seeds));
        line(format!("\n[record]\nevery = {}", self.every));
        line(format!(
            "metrics = [{}]",
            self.metrics.iter().map(|metric| quoted(metric)).collect::<Vec<_>>().join(", ")
        ));
        line(format!("solutions = {}", quoted(self.solutions.name())));
        if let Some(Target { metric, below }) = &self.target {
            line(format!("\n[stop]\nmetric = {}\nbelow = {below:?}", quoted(metric)));
        }
        for group in &self.groups {
            line(format!("\n[[algorithm]]\nlabel = {}", quoted(&group.label)));
            if !group.grid.is_empty() {
                line(format!("grid = [{}]", group.grid.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(", ")));
            }
            line(format!(
                "agents = {}\nrounds = {}\nprecision = {}",
                group.agents,
                group.rounds,
                quoted(group.precision.name())
            ));
            for (section, part) in
                [("problem", &group.problem), ("topology", &group.topology), ("weights", &group.weights)]
            {
                line(format!("{section} = {{ {} }}", part.to_toml().join(", ")));
            }
            for (section, part) in [("faults", &group.faults), ("network", &group.network)] {
                if let Some(part) = part {
                    line(format!("{section} = {{ {} }}", part.to_toml().join(", ")));
                }
            }
            line(group.algorithm.to_toml().join("\n"));
        }
        out
    }
}

impl Plan {
    /// Notes the checksums of all data that runs will read, so that nobody repeats them with other data unawares.
    pub fn with_checksums(mut self) -> Result<Self, SetupError> {
        for Group { problem, .. } in &mut self.groups {
            let kind = problems::<f64>().into_iter().find(|kind| kind.name == problem.kind);
            let checksum = kind.and_then(|kind| kind.checksum).filter(|_| problem.get("sha256").is_none());
            let found = checksum.map(|checksum| checksum(problem)).transpose().map_err(SetupError::Impossible)?;
            if let Some(found) = found.flatten() {
                // Where it stands when the plan is read again.
                let place = problem.settings.iter().position(|(key, _)| key == "data").map_or(0, |place| place + 1);
                problem.settings.insert(place, ("sha256".to_owned(), Value::Text(found)));
            }
        }
        Ok(self)
    }
}

impl Group {
    /// A value by its dotted path, as the experiment file has it.
    pub fn value(&self, path: &str) -> Option<Value> {
        let (section, key) = path.split_once('.').unwrap_or((path, ""));
        let part = match section {
            "agents" => return Some(Value::Whole((self.agents as u64).cast_signed())),
            "rounds" => return Some(Value::Whole(self.rounds.cast_signed())),
            "precision" => return Some(Value::from(self.precision.name())),
            "problem" => &self.problem,
            "topology" => &self.topology,
            "weights" => &self.weights,
            "faults" => self.faults.as_ref()?,
            "network" => self.network.as_ref()?,
            "algorithm" => &self.algorithm,
            _ => return None,
        };
        part.get(key)
    }
}

impl Precision {
    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }
}

impl Part {
    fn to_toml(&self) -> Vec<String> {
        let setting = |(key, value): &(String, Value)| format!("{key} = {}", to_toml(value));
        let kind = Some(&self.kind).filter(|kind| !kind.is_empty()).map(|kind| format!("kind = {}", quoted(kind)));
        kind.into_iter().chain(self.settings.iter().map(setting)).collect()
    }
}

impl Given for Part {
    fn get(&self, key: &str) -> Option<Value> {
        if key == "kind" {
            return Some(Value::from(self.kind.as_str()));
        }
        self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}

pub(crate) fn to_toml(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
    }
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() => _ = write!(out, "\\u{:04X}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
