//! Tables for the terminal.

use fabnet_lab::{GroupSummary, Plan, Summary};

/// The groups of a summary: what was reached, and where they ended.
pub(crate) fn summary(plan: &Plan, summary: &Summary) -> String {
    let mut head = vec![String::new(), "runs".into()];
    if let Some(target) = &plan.target {
        head.push("reached".into());
        head.push(format!("rounds to {} < {} (min to max)", target.metric, target.below));
    }
    head.extend(plan.metrics.iter().cloned());
    let row = |group: &GroupSummary| {
        let mut row = vec![group.label.clone(), runs(group)];
        if plan.target.is_some() {
            row.push(group.reached.to_string());
            let round = |round: Option<f64>| round.map_or("–".to_owned(), |round| round.to_string());
            let at = group.reached_at;
            row.push(format!("{} ({} to {})", round(at.median), round(at.min), round(at.max)));
        }
        let last = |metric: &String| group.last.get(metric).and_then(|spread| spread.median);
        row.extend(
            plan.metrics.iter().map(|metric| last(metric).map_or("–".to_owned(), |value| format!("{value:.3e}"))),
        );
        row
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(summary.groups.iter().map(row)).collect();
    format!("{}\n({})", aligned(&rows), meaning(summary))
}

/// How many runs there are, and how many of them diverged or are unfinished.
fn runs(group: &GroupSummary) -> String {
    let failures = group.failures();
    if failures.is_empty() { group.runs.to_string() } else { failures }
}

/// What the numbers are.
fn meaning(summary: &Summary) -> &'static str {
    if summary.groups.iter().any(|group| group.diverged > 0) {
        "medians over seeds; a run that diverged counts as worse than any number"
    } else {
        "medians over seeds"
    }
}

/// Columns of equal width, the first to the left and the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let cell = |(column, cell): (usize, &String)| {
        let width = widths[column];
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
