//! The design of a benchmark: which cells there are, and what each of them consists of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fabnet_core::algorithm::methods;
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::settings::Value;

use super::cell::BenchCell;
use super::design_file::{CellBlock, DesignFile, MethodEntry};
use super::statement::Statement;
use crate::file::{Diagnostics, Entry, Node, Table, resolve};
use crate::plan::{Origin, Plan};
use crate::results::experiment_digest;

/// The design of a benchmark, which one file holds.
#[derive(Clone, Debug)]
pub struct Design {
    file: PathBuf,
    pub(super) spec: DesignFile,
    /// The same file with lines, of which experiments are put together.
    root: Table,
}

/// The seed by which cells are put in order, so that the first ones are a sample.
const ORDER: u64 = 26;
/// The step size in place of tuned ones, for methods that must be given one.
const UNTUNED: f64 = 0.01;

impl Design {
    /// Reads a design.
    pub fn read(file: &Path) -> Result<Self, Diagnostics> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            Diagnostics::one(file, Origin::Missing, "", format!("cannot be read ({error}): check the path"))
        })?;
        Self::parse(&text, file)
    }

    /// Parses the text of a design.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Diagnostics> {
        let root = Table::parse(text, file)?;
        let spec: DesignFile = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start]);
            let line = Origin::Line(before.matches('\n').count() + 1);
            Diagnostics::one(file, line, "", error.message().to_owned())
        })?;
        let design = Self { file: file.to_owned(), spec, root };
        design.check()?;
        Ok(design)
    }

    /// The statements that verdicts are given on.
    pub(super) fn statements(&self) -> &[Statement] {
        &self.spec.statements
    }

    /// A method by its name.
    pub(super) fn method(&self, name: &str) -> Option<&MethodEntry> {
        self.spec.methods.get(name)
    }

    /// The names of a section, in the order of the file.
    pub(super) fn names(&self, section: &str) -> Vec<String> {
        let table = self.root.get(section).and_then(Entry::table);
        table.into_iter().flat_map(|table| table.0.iter().map(|(name, _)| name.clone())).collect()
    }

    /// The cells of the standard size, or of the full product: first those that statements are
    /// about, then the others in an order that is drawn once and for all.
    pub fn cells(&self, full: bool) -> Vec<BenchCell> {
        let whole = [CellBlock::default()];
        let blocks = if full { &whole[..] } else { &self.spec.standard };
        let mut seen = BTreeSet::new();
        let mut cells: Vec<BenchCell> = blocks.iter().flat_map(|block| self.product(block)).collect();
        cells.retain(|cell| seen.insert(cell.clone()));
        let mut stream = Stream::new(ORDER, EVERYONE, 0, Purpose::Probe);
        for place in 0..cells.len() {
            let other = place + stream.below(cells.len() - place);
            cells.swap(place, other);
        }
        let judged: BTreeSet<BenchCell> =
            self.statements().iter().flat_map(|statement| statement.cells(&seen)).collect();
        let (first, rest): (Vec<BenchCell>, Vec<BenchCell>) = cells.into_iter().partition(|cell| judged.contains(cell));
        [first, rest].concat()
    }

    /// The cells of a block, in the order of the file.
    fn product(&self, block: &CellBlock) -> Vec<BenchCell> {
        let chosen = |names: &Option<Vec<String>>, section| names.clone().unwrap_or_else(|| self.names(section));
        let networks = chosen(&block.networks, "networks");
        let conditions = chosen(&block.conditions, "conditions");
        let agents = block.agents.as_ref().unwrap_or(&self.spec.agents);
        let mut cells = Vec::new();
        for problem in chosen(&block.problems, "problems") {
            for method in chosen(&block.methods, "methods").iter().filter(|method| self.fits(method, &problem)) {
                for network in &networks {
                    for condition in &conditions {
                        cells.extend(agents.iter().map(|&agents| BenchCell {
                            problem: problem.clone(),
                            network: network.clone(),
                            agents,
                            condition: condition.clone(),
                            method: method.clone(),
                        }));
                    }
                }
            }
        }
        cells
    }

    /// Whether a method is for problems with as many levels as this one has.
    fn fits(&self, method: &str, problem: &str) -> bool {
        let bilevel = self.spec.problems.get(problem).is_some_and(|problem| problem.bilevel);
        self.is_bilevel(method) == Some(bilevel)
    }

    /// Whether a method is for two levels; nothing if there is no such method.
    fn is_bilevel(&self, method: &str) -> Option<bool> {
        let kind = self.root.find(&format!("methods.{method}.algorithm.kind"))?.text()?;
        Some(methods::<f64>().iter().find(|known| known.name == kind)?.direction.bilevel)
    }

    /// The experiment of a cell on the test seeds.
    pub fn plan(&self, cell: &BenchCell) -> Result<Plan, Diagnostics> {
        let spec = &self.spec;
        let mut table = Table::default();
        table.put("name", entry(Node::Value(Value::from(spec.name.as_str()))));
        table.put("seeds", list(spec.seeds.iter().map(|&seed| whole(seed))));
        table.put("agents", entry(whole(cell.agents as u64)));
        table.put("rounds", entry(whole(spec.rounds)));
        let metrics =
            [spec.metric.as_str(), "gradients", "products", "scalar_bytes"].map(|name| Node::Value(Value::from(name)));
        let record = [
            ("every", entry(whole(spec.every))),
            ("solutions", entry(Node::Value(Value::from("none")))),
            ("metrics", list(metrics)),
        ];
        table.put("record", tabled(record));
        let hardest = spec.targets.iter().copied().fold(f64::INFINITY, f64::min);
        let below = entry(Node::Value(Value::Number(hardest)));
        table
            .put("stop", tabled([("metric", entry(Node::Value(Value::from(spec.metric.as_str())))), ("below", below)]));
        self.copy(&format!("problems.{}", cell.problem), &["problem"], &mut table);
        self.copy(&format!("networks.{}", cell.network), &["topology", "weights"], &mut table);
        let mut algorithm = self.section(&format!("methods.{}.algorithm", cell.method));
        let own = self.section(&format!("methods.{}.own.{}", cell.method, cell.condition));
        if self.meets(cell) {
            own.0.into_iter().for_each(|(key, entry)| algorithm.put(&key, entry));
        } else {
            self.copy(&format!("conditions.{}", cell.condition), &["faults", "wire"], &mut table);
        }
        if algorithm.get("steps").is_none() {
            algorithm.put("steps", entry(Node::Value(Value::Number(UNTUNED))));
        }
        algorithm.put("label", entry(Node::Value(Value::from(cell.method.as_str()))));
        table.put("algorithm", list([Node::Table(algorithm)]));
        resolve(&table, &self.file)
    }

    /// Whether a method meets the condition of a cell by settings of its own.
    fn meets(&self, cell: &BenchCell) -> bool {
        self.method(&cell.method).is_some_and(|method| method.own.contains_key(&cell.condition))
    }

    /// A number for all that the result of a cell depends on; none where it cannot be run.
    pub fn digest(&self, cell: &BenchCell) -> String {
        let spec = &self.spec;
        let plan = self.plan(cell).map_or_else(|wrong| wrong.to_string(), |plan| experiment_digest(&plan));
        let tuned = self.method(&cell.method).is_some_and(|method| method.tuned);
        let text = format!("{plan} {} {:?} {:?} {tuned}", spec.metric, spec.targets, spec.tuning);
        format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
    }

    /// Copies sections of an entry of the design.
    fn copy(&self, path: &str, keys: &[&str], to: &mut Table) {
        let table = self.section(path);
        for key in keys {
            if let Some(entry) = table.get(key) {
                to.put(key, entry.clone());
            }
        }
    }

    /// A table of the file by its dotted path; empty if it is not there.
    fn section(&self, path: &str) -> Table {
        self.root.find(path).and_then(Entry::table).cloned().unwrap_or_default()
    }

    /// Refuses a design that names what it does not have, or that judges methods on what they were
    /// tuned on.
    fn check(&self) -> Result<(), Diagnostics> {
        let spec = &self.spec;
        let wrong = |key: &str, message: String| Err(Diagnostics::one(&self.file, Origin::Missing, key, message));
        if spec.targets.is_empty() || spec.seeds.is_empty() || spec.tuning.seeds.is_empty() || spec.tuning.trials == 0 {
            return wrong(
                "targets",
                "targets, seeds, tuning.seeds and tuning.trials need at least one each".to_owned(),
            );
        }
        if let Some(seed) = spec.seeds.iter().find(|seed| spec.tuning.seeds.contains(seed)) {
            return wrong("tuning.seeds", format!("{seed} is a test seed, too: tune on others"));
        }
        for (section, name) in
            spec.standard.iter().flat_map(named).chain(spec.statements.iter().flat_map(Statement::named))
        {
            if !self.names(section).contains(&name) {
                return wrong(
                    section,
                    format!("there is no `{name}` in this section: known are {}", self.names(section).join(", ")),
                );
            }
        }
        let unknown = spec.methods.keys().find(|method| self.is_bilevel(method).is_none());
        let message = "its algorithm.kind is no method: `fabnet list algorithms` has them";
        unknown.map_or(Ok(()), |method| wrong(&format!("methods.{method}"), message.to_owned()))
    }
}

/// The names that a block uses, each with its section.
fn named(block: &CellBlock) -> Vec<(&'static str, String)> {
    let sections = [
        ("problems", &block.problems),
        ("networks", &block.networks),
        ("conditions", &block.conditions),
        ("methods", &block.methods),
    ];
    let names =
        sections.into_iter().flat_map(|(section, names)| names.iter().flatten().map(move |name| (section, name)));
    names.map(|(section, name)| (section, name.clone())).collect()
}

fn entry(node: Node) -> Entry {
    Entry { node, origin: Origin::Missing }
}

fn whole(number: u64) -> Node {
    Node::Value(Value::Whole(number.cast_signed()))
}

fn list(nodes: impl IntoIterator<Item = Node>) -> Entry {
    entry(Node::List(nodes.into_iter().map(entry).collect()))
}

fn tabled<const N: usize>(entries: [(&str, Entry); N]) -> Entry {
    entry(Node::Table(Table(entries.into_iter().map(|(key, entry)| (key.to_owned(), entry)).collect())))
}
