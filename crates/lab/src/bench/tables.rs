//! The tables of results, one for each problem, network, number of agents and condition.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::cell::BenchCell;
use super::shown::ShownResults;
use super::statement::Cost;
use super::verdict::Spread;
use crate::number::superscript;
use crate::report::written;

/// The cells of a table: the same in all but the method.
pub(super) type TableRows<'a> = Vec<&'a BenchCell>;

/// The tables of these cells, in their order.
pub(super) fn grouped<'a>(cells: &'a [BenchCell]) -> Vec<(BenchCell, TableRows<'a>)> {
    let mut places: BTreeMap<BenchCell, usize> = BTreeMap::new();
    let mut tables: Vec<(BenchCell, TableRows<'a>)> = Vec::new();
    for cell in cells {
        let table = cell.table();
        let place = *places.entry(table.clone()).or_insert(tables.len());
        if place == tables.len() {
            tables.push((table, Vec::new()));
        }
        tables[place].1.push(cell);
    }
    tables
}

/// All tables of which a cell was run, and a list of the others.
pub(super) fn tables(shown: &ShownResults<'_>, cells: &[BenchCell]) -> String {
    let (some, none): (Vec<_>, Vec<_>) =
        grouped(cells).into_iter().partition(|(_, rows)| rows.iter().any(|cell| shown.result(cell).is_some()));
    let mut out: Vec<String> = some.iter().map(|(table, rows)| one(shown, table, rows)).collect();
    if !none.is_empty() {
        let names: Vec<String> = none.iter().map(|(table, _)| format!("- {}", table.place())).collect();
        out.push(format!("### Not run at all\n\n{}", names.join("\n")));
    }
    out.join("\n\n")
}

fn one(shown: &ShownResults<'_>, table: &BenchCell, rows: &[&BenchCell]) -> String {
    let targets = shown.targets();
    let [easy, hard] = [targets[0], targets[targets.len() - 1]];
    let mut out = format!("### {}\n\n", table.place());
    _ = writeln!(
        out,
        "| method | rounds to {} | rounds to {} | gradients | bytes | seconds | trials |\n|---|---|---|---|---|---|---|",
        power(easy),
        power(hard)
    );
    for cell in rows {
        _ = writeln!(out, "{}", row(shown, cell, [easy, hard]));
    }
    out.trim_end().to_owned()
}

fn row(shown: &ShownResults<'_>, cell: &BenchCell, [easy, hard]: [f64; 2]) -> String {
    let name = shown.name(&cell.method);
    let Some(result) = shown.result(cell) else { return format!("| {name} | not run | | | | | |") };
    if let Some(note) = shown.refusal(result) {
        return format!("| {name} | cannot be run ({note}) | | | | | |");
    }
    let spread = |cost, target| Spread::of(result, cost, target).map_or_else(String::new, cell_text);
    let [rounds, gradients, bytes, seconds] = Cost::ALL.map(|cost| spread(cost, hard));
    let first = spread(Cost::Rounds, easy);
    format!("| {name} | {first} | {rounds} | {gradients} | {bytes} | {seconds} | {} |", result.trials)
}

/// A median with its quartiles, or how many runs reached the target.
pub(super) fn cell_text(spread: Spread) -> String {
    let Spread { low, median, high, reached: [reached, of] } = spread;
    if median.is_infinite() {
        return if reached == 0 { "never".to_owned() } else { format!("never ({reached} of {of})") };
    }
    let failed = if reached < of { format!(", {reached} of {of}") } else { String::new() };
    if low == high && failed.is_empty() {
        return written(median);
    }
    format!("{} ({}–{}{failed})", written(median), written(low), written(high))
}

/// A target as a power of ten, where it is one.
pub(super) fn power(target: f64) -> String {
    let exponent = target.log10().round() as i32;
    if (10f64.powi(exponent) / target - 1.0).abs() < 1e-9 {
        format!("10{}", superscript(exponent))
    } else {
        target.to_string()
    }
}
