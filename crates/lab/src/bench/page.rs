//! The page of the benchmark.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use super::cell::BenchCell;
use super::design::Design;
use super::error::BenchError;
use super::results::BenchResults;
use super::shown::ShownResults;
use super::statement::{Cost, Statement};
use super::tables::{cell_text, grouped, power, tables};
use super::verdict::{PairCounts, PairVerdict, Spread, sides};
use crate::figure::CostRanges;

/// A page with verdicts, tables and figures, made of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkPage {
    /// The page, in Markdown.
    pub text: String,
    /// The figures by the names of their files, as SVG.
    pub figures: BTreeMap<String, String>,
}

impl BenchmarkPage {
    /// Makes the page of a template, in which `{{ verdicts }}`, `{{ readings }}`, `{{ coverage }}`,
    /// `{{ machines }}`, `{{ conditions }}`, `{{ figures }}`, `{{ tables }}` and `{{ refusals }}`
    /// stand for what is made of the results. Figures are looked for in `folder`, as the page names
    /// it.
    pub fn new(
        design: &Design,
        results: &BenchResults,
        (template, path): (&str, &Path),
        folder: &str,
    ) -> Result<Self, BenchError> {
        let shown = ShownResults::new(design, results);
        let mut cells = design.cells(false);
        cells.sort_by_key(|cell| place(design, cell));
        let figures = figures(&shown, &cells);
        let (verdicts, readings) = verdicts(&shown, &cells);
        let links = figures.iter().map(|(name, (title, _))| format!("![{title}]({folder}/{name})"));
        let parts = [
            ("verdicts", verdicts),
            ("readings", readings),
            ("coverage", coverage(&shown, &cells)),
            ("machines", machines(&shown, results)),
            ("conditions", conditions(design)),
            ("figures", links.collect::<Vec<_>>().join("\n\n")),
            ("tables", tables(&shown, &cells)),
            ("refusals", refusals(&shown)),
        ];
        let mut text = template.to_owned();
        for (part, contents) in parts {
            let place = format!("{{{{ {part} }}}}");
            if !text.contains(&place) {
                return Err(BenchError::Template { path: path.to_owned(), part });
            }
            text = text.replace(&place, contents.trim_end());
        }
        let figures = figures.into_iter().map(|(name, (_, svg))| (name, svg)).collect();
        Ok(Self { text, figures })
    }
}

/// Where a cell stands in the file of the design.
fn place(design: &Design, cell: &BenchCell) -> [usize; 5] {
    let at = |section, name: &String| design.names(section).iter().position(|known| known == name).unwrap_or(0);
    [
        at("problems", &cell.problem),
        at("conditions", &cell.condition),
        at("networks", &cell.network),
        cell.agents,
        at("methods", &cell.method),
    ]
}

/// How much of the design was carried out.
fn coverage(shown: &ShownResults<'_>, cells: &[BenchCell]) -> String {
    let count = |refused: bool| {
        cells.iter().filter_map(|cell| shown.result(cell)).filter(|result| result.refused.is_some() == refused).count()
    };
    let (run, refused, full) = (count(false), count(true), shown.design.cells(true).len());
    let left = cells.len() - run - refused;
    let sample = if left > 0 { format!(" This is a sample: {left} cells are not run.") } else { String::new() };
    format!(
        "Of {} cells of the standard size {run} were run, and {refused} cannot be run.{sample} The full product has \
         {full} cells.",
        cells.len()
    )
}

fn machines(shown: &ShownResults<'_>, results: &BenchResults) -> String {
    let mut out = "| machine | processor | cores | memory | system | cells at a time | fabnet | note | cells |\n\
                   |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, machine) in &results.machines {
        let cells = shown.results.values().filter(|result| result.machine == *name).count();
        _ = writeln!(
            out,
            "| {name} | {} | {} | {} GB | {} | {} | {} | {} | {cells} |",
            machine.processor,
            machine.cores,
            machine.memory,
            machine.system,
            machine.threads,
            machine.version,
            machine.note
        );
    }
    out
}

fn conditions(design: &Design) -> String {
    let names = design.names("conditions").into_iter();
    let line = |name: String| format!("- **{name}**: {}", design.spec.conditions[&name].about);
    names.map(line).collect::<Vec<_>>().join("\n")
}

fn refusals(shown: &ShownResults<'_>) -> String {
    let mut notes: Vec<(usize, &str)> = shown.notes.iter().map(|(reason, note)| (*note, *reason)).collect();
    notes.sort_unstable();
    let lines = notes.into_iter().map(|(note, reason)| format!("{note}. {reason}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The verdicts on statements of papers, and what our readings of others show.
fn verdicts(shown: &ShownResults<'_>, cells: &[BenchCell]) -> (String, String) {
    let known: BTreeSet<BenchCell> = cells.iter().cloned().collect();
    let head = "| statement | better, tie, worse, neither | not run | numbers | verdict |\n|---|---|---|---|---|\n";
    let (mut confirmed, mut readings) = (head.to_owned(), head.to_owned());
    for statement in shown.design.statements() {
        let line = verdict(shown, statement, &known);
        if shown.readings(statement).is_empty() { confirmed += &line } else { readings += &line }
    }
    (confirmed, readings)
}

/// The row of a statement.
fn verdict(shown: &ShownResults<'_>, statement: &Statement, known: &BTreeSet<BenchCell>) -> String {
    let (mut counts, mut open, mut numbers) = (PairCounts::default(), 0, Vec::new());
    for [cell, other] in statement.pairs(known) {
        let results = shown.result(&cell).zip(shown.result(&other));
        match results.and_then(|(one, two)| sides(statement, [one, two])) {
            None => open += 1,
            Some([better, worse]) => {
                counts.add(PairVerdict::of(better, worse));
                numbers.push((cell, [better, worse]));
            }
        }
    }
    let papers = shown.readings(statement);
    let reading = if papers.is_empty() {
        String::new()
    } else {
        format!(" Our reading of {}.", papers.into_iter().collect::<Vec<_>>().join(" and "))
    };
    let PairCounts { better, tie, worse, neither } = counts;
    format!(
        "| {} ({}).{reading} `{}` against `{}`, {} to {} | {better}, {tie}, {worse}, {neither} | {open} | {} | **{}** |\n",
        statement.says,
        statement.paper,
        side_name(&statement.better),
        side_name(&statement.worse),
        statement.by.name(),
        power(statement.target),
        numbers.iter().map(|(cell, spreads)| numbers_of(cell, spreads)).collect::<Vec<_>>().join("<br>"),
        counts.verdict()
    )
}

fn side_name(side: &super::statement::StatementSide) -> String {
    let condition = if side.condition == "exact" { String::new() } else { format!(", {}", side.condition) };
    let times = if side.times == 1.0 { String::new() } else { format!(", times {}", side.times) };
    format!("{}{condition}{times}", side.method)
}

/// The numbers of a pair of cells.
fn numbers_of(cell: &BenchCell, [better, worse]: &[Spread; 2]) -> String {
    let BenchCell { problem, network, agents, .. } = cell;
    format!("{problem}, {network}, {agents}: {} against {}", cell_text(*better), cell_text(*worse))
}

/// A figure for each table under exact conditions with the smaller number of agents: rounds to the
/// hardest target, with its title, by the name of its file.
fn figures(shown: &ShownResults<'_>, cells: &[BenchCell]) -> BTreeMap<String, (String, String)> {
    let hard = shown.targets()[shown.targets().len() - 1];
    let least = cells.iter().map(|cell| cell.agents).min().unwrap_or(0);
    let mut figures = BTreeMap::new();
    for (table, rows) in grouped(cells) {
        let ranges: Vec<(String, Option<[f64; 3]>)> = rows
            .iter()
            .filter_map(|cell| {
                let spread = Spread::of(shown.result(cell)?, Cost::Rounds, hard)?;
                let range = [spread.low, spread.median, spread.high];
                Some((cell.method.clone(), Some(range).filter(|_| spread.median.is_finite())))
            })
            .collect();
        let reached = ranges.iter().filter(|(_, range)| range.is_some()).count();
        if table.condition != "exact" || table.agents != least || reached < 2 {
            continue;
        }
        let title = format!("Rounds to {}: {}", power(hard), table.place());
        let svg = CostRanges { title: &title, axis: "rounds", rows: &ranges }.svg();
        figures.insert(format!("{}-{}.svg", table.problem, table.network), (title, svg));
    }
    figures
}
