//! Tables for the terminal.

use fabnet_lab::{GroupSummary, Plan, Summary};

/// What stands in a cell whose value is not known.
const NO_VALUE: &str = "–";

/// Formats the groups of a summary: the runs, the rounds to the target if the plan has one, and the
/// last value of each metric.
pub(crate) fn summary(plan: &Plan, summary: &Summary) -> String {
    let rows = summary.groups.iter().map(|group| summary_row(plan, group));
    let rows: Vec<Vec<String>> = std::iter::once(summary_head(plan)).chain(rows).collect();
    format!("{}\n({})", aligned(&rows), meaning(summary))
}

fn summary_head(plan: &Plan) -> Vec<String> {
    let mut head = vec![String::new(), "runs".to_owned()];
    if let Some(target) = &plan.target {
        head.push("reached".to_owned());
        head.push(format!("rounds to {} < {} (min to max)", target.metric, target.below));
    }
    head.extend(plan.metrics.iter().cloned());
    head
}

fn summary_row(plan: &Plan, group: &GroupSummary) -> Vec<String> {
    let mut row = vec![group.label.clone(), runs(group)];
    if plan.target.is_some() {
        row.push(group.reached.to_string());
        let [median, min, max] = [group.reached_at.median, group.reached_at.min, group.reached_at.max]
            .map(|round| round.map_or(NO_VALUE.to_owned(), |round| round.to_string()));
        row.push(format!("{median} ({min} to {max})"));
    }
    let last = |metric: &String| group.last.get(metric).and_then(|spread| spread.median);
    let cell = |metric| last(metric).map_or(NO_VALUE.to_owned(), |value| format!("{value:.3e}"));
    row.extend(plan.metrics.iter().map(cell));
    row
}

/// The number of runs, or how many of them diverged or are unfinished.
fn runs(group: &GroupSummary) -> String {
    let failures = group.failures();
    if failures.is_empty() { group.runs.to_string() } else { failures }
}

/// Explains the numbers of a summary.
fn meaning(summary: &Summary) -> &'static str {
    if summary.groups.iter().any(|group| group.diverged > 0) {
        "medians over seeds; a run that diverged counts as worse than any number"
    } else {
        "medians over seeds"
    }
}

/// Pads cells to columns of equal width, the first aligned left and the others right.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fabnet_lab::Experiment;
    use serde_json::json;

    use super::*;

    fn plan(stop: &str) -> Plan {
        let text = format!(
            "agents = 3\nrounds = 10\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\n\
             [record]\nmetrics = [\"relative_error\"]\n{stop}"
        );
        Experiment::parse(&text, Path::new("test.toml")).unwrap().plan().unwrap()
    }

    fn summary_of(groups: &serde_json::Value) -> Summary {
        serde_json::from_value(json!({ "name": "test", "version": "0", "runs": [], "groups": groups })).unwrap()
    }

    fn group(label: &str, diverged: usize, median: Option<f64>) -> serde_json::Value {
        let spread =
            json!({ "mean": median, "std": null, "median": median, "q1": null, "q3": null, "min": null, "max": null });
        json!({
            "label": label, "settings": {}, "runs": 5, "diverged": diverged, "reached": 3,
            "reached_at": { "median": 40.0, "min": 20.0, "max": null }, "final": { "relative_error": spread },
        })
    }

    #[test]
    fn cells_are_aligned_by_characters() {
        let rows = [vec!["κκκκκκ", "1"], vec!["short", "1000"], vec!["none"]];
        let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect());
        assert_eq!(aligned(&rows), "κκκκκκ     1\nshort   1000\nnone  ");
        assert_eq!(aligned(&[]), "");
    }

    #[test]
    fn a_summary_without_a_target_has_the_last_values() {
        let text = summary(&plan(""), &summary_of(&json!([group("dfab", 0, Some(0.5)), group("fab", 0, None)])));
        let expected = [
            "      runs  relative_error",
            "dfab     5        5.000e-1",
            "fab      5               –",
            "(medians over seeds)",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_summary_with_a_target_has_the_rounds_to_it_and_tells_of_divergence() {
        let plan = plan("[stop]\nmetric = \"relative_error\"\nbelow = 0.01\n");
        let text = summary(&plan, &summary_of(&json!([group("fab", 2, Some(0.5))])));
        assert!(text.contains("reached  rounds to relative_error < 0.01 (min to max)"), "{text}");
        assert!(text.contains("40 (20 to –)") && text.contains("2 of 5 diverged"), "{text}");
        assert!(text.ends_with("a run that diverged counts as worse than any number)"), "{text}");
    }
}
