//! Reports: documents whose numbers come from summaries, never by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::folder::read_json;
use crate::summary::median;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A place that is not of the form.
    #[error(
        "line {line}: `{found}` is not of the form {{{{ RUN | LABEL | PATH }}}} or {{{{ RUN | LABEL | PATH in LOW..HIGH }}}}"
    )]
    Form {
        /// Counted from 1.
        line: usize,
        /// As written.
        found: String,
    },
    /// A folder without a summary.
    #[error("line {line}: {} has no summary: run that experiment with --out there first", path.display())]
    Run {
        /// Counted from 1.
        line: usize,
        /// The folder.
        path: PathBuf,
    },
    /// A label or a path that is not there.
    #[error("line {line}: there is no `{path}` of `{label}` in that summary")]
    Missing {
        /// Counted from 1.
        line: usize,
        /// The group.
        label: String,
        /// What was asked for.
        path: String,
    },
    /// A number that is not what the text says about it.
    #[error(
        "line {line}: `{path}` of `{label}` is {found}, not within {low}..{high}: the text beside it no longer holds, so mend the text"
    )]
    Bounds {
        /// Counted from 1.
        line: usize,
        /// The group.
        label: String,
        /// What was asked for.
        path: String,
        /// Its value.
        found: String,
        /// At least.
        low: f64,
        /// At most.
        high: f64,
    },
}

/// Fills in a template. `{{ RUN | LABEL | PATH }}` becomes a number of `RUN/summary.json`: PATH leads into the group of that label, and `run.FIELD` is the median of a field over its runs, `run.megaFIELD` in millions.
/// With `in LOW..HIGH` the report is refused unless the number is there, so that no sentence outlives its number; infinity is written as `never`.
pub fn report(template: &str, runs: &Path) -> Result<String, ReportError> {
    let mut summaries = BTreeMap::new();
    let mut lines = Vec::new();
    for (line, text) in (1..).zip(template.lines()) {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let form = || ReportError::Form { line, found: text.trim().to_owned() };
            let (place, after) = after.split_once("}}").ok_or_else(form)?;
            filled += before;
            filled += &Place::parse(place).ok_or_else(form)?.fill(line, runs, &mut summaries)?;
            rest = after;
        }
        lines.push(filled + rest);
    }
    Ok(lines.join("\n") + "\n")
}

/// A place in a template.
struct Place<'t> {
    run: &'t str,
    label: &'t str,
    path: &'t str,
    bounds: Option<(f64, f64)>,
}

impl<'t> Place<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let mut parts = text.split('|').map(str::trim);
        let (run, label, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let (path, bounds) = match rest.split_once(" in ") {
            None => (rest, None),
            Some((path, bounds)) => {
                let (low, high) = bounds.split_once("..")?;
                (path.trim(), Some((low.trim().parse().ok()?, high.trim().parse().ok()?)))
            }
        };
        parts.next().is_none().then_some(Self { run, label, path, bounds })
    }

    fn fill(&self, line: usize, runs: &Path, summaries: &mut BTreeMap<PathBuf, Json>) -> Result<String, ReportError> {
        let folder = runs.join(self.run);
        if !summaries.contains_key(&folder) {
            let summary = read_json(&folder.join("summary.json")).ok().flatten();
            summaries.insert(folder.clone(), summary.ok_or(ReportError::Run { line, path: folder.clone() })?);
        }
        let (label, path) = (self.label.to_owned(), self.path.to_owned());
        let number = self.find(&summaries[&folder]).ok_or(ReportError::Missing {
            line,
            label: label.clone(),
            path: path.clone(),
        })?;
        match self.bounds {
            Some((low, high)) if !(low..=high).contains(&number) => {
                Err(ReportError::Bounds { line, label, path, found: written(number), low, high })
            }
            _ => Ok(written(number)),
        }
    }

    /// The number, infinite where it is null.
    fn find(&self, summary: &Json) -> Option<f64> {
        let labelled = |entry: &&Json| entry["label"] == self.label;
        if let Some(field) = self.path.strip_prefix("run.") {
            let (field, unit) = field.strip_prefix("mega").map_or((field, 1.0), |field| (field, 1e6));
            let of_group = summary["runs"].as_array()?.iter().filter(labelled);
            let mut values = of_group.map(|run| Some(run[field].as_f64()? / unit)).collect::<Option<Vec<f64>>>()?;
            values.sort_by(f64::total_cmp);
            return median(&values);
        }
        let group = summary["groups"].as_array()?.iter().find(labelled)?;
        let found = self.path.split('.').try_fold(group, |inner, key| inner.get(key))?;
        if found.is_null() { Some(f64::INFINITY) } else { found.as_f64() }
    }
}

/// Whole numbers as such, others with three digits.
fn written(number: f64) -> String {
    match number {
        number if number.is_infinite() => "never".to_owned(),
        number if number == number.trunc() && number.abs() < 1e7 => format!("{number:.0}"),
        number if (1e-3..1e3).contains(&number.abs()) => {
            let digits = (2.0 - number.abs().log10().floor()).max(0.0) as usize;
            format!("{number:.digits$}")
        }
        number => format!("{number:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> Result<String, ReportError> {
        let folder = std::env::temp_dir().join(format!("fabnet-report-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        let summary = r#"{"runs": [{"label": "x", "seconds": 2.0}, {"label": "x", "seconds": 1.0}, {"label": "x", "seconds": 9.5}],
            "groups": [{"label": "x", "diverged": 3, "reached_at": {"median": null}, "final": {"e": {"median": 0.012345}}}]}"#;
        std::fs::write(folder.join("a/summary.json"), summary).unwrap();
        report(template, &folder)
    }

    #[test]
    fn numbers_come_from_the_summary() {
        let text = "{{ a | x | diverged }} of {{a|x|final.e.median in 0.01..0.02}}, {{ a | x | reached_at.median }}, {{ a | x | run.seconds }}";
        assert_eq!(fill(text).unwrap(), "3 of 0.0123, never, 2\n");
    }

    #[test]
    fn sentences_do_not_outlive_their_numbers() {
        let message = |text: &str| fill(text).unwrap_err().to_string();
        assert!(
            message("\n{{ a | x | diverged in 0..2 }}").starts_with("line 2: `diverged` of `x` is 3, not within 0..2")
        );
        assert!(message("{{ a | y | diverged }}").contains("no `diverged` of `y`"));
        assert!(message("{{ b | x | diverged }}").contains("has no summary"));
        assert!(message("{{ a x }}").contains("not of the form"));
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([1234.5, 0.5, 12.345, 1e-5, 20000.0].map(written), ["1.23e3", "0.500", "12.3", "1.00e-5", "20000"]);
    }
}
