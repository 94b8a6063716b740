//! Reports: documents whose numbers come from summaries, never by hand.

mod reduced;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

pub use self::reduced::{Reduced, reduce};
use crate::number::{superscript, with_commas};
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

/// Fills in a template. `{{ RUN | LABEL | PATH }}` becomes a number of the summary of RUN, which is `RUN/summary.json` in the folder, or `RUN.json` if it
/// was reduced: PATH leads into the group of that label, and `run.FIELD` is the median of a field over its runs, `run.megaFIELD` in millions.
/// With `in LOW..HIGH` the report is refused unless the number is there, so that no sentence outlives its number; infinity is written as `never`.
pub fn report(template: &str, runs: &Path) -> Result<String, ReportError> {
    let lines: Vec<String> = report_lines(template, runs).into_iter().collect::<Result<_, _>>()?;
    Ok(lines.join("\n") + "\n")
}

/// The same line by line.
pub fn report_lines(template: &str, runs: &Path) -> Vec<Result<String, ReportError>> {
    let mut summaries = Summaries::new(runs);
    (1..).zip(template.lines()).map(|(line, text)| fill(line, text, &mut summaries)).collect()
}

fn fill(line: usize, text: &str, summaries: &mut Summaries) -> Result<String, ReportError> {
    let mut filled = String::new();
    let mut rest = text;
    for place in places(line, text)? {
        let (before, after) = rest.split_once("{{").unwrap_or((rest, ""));
        filled += before;
        filled += &place.fill(line, summaries.get(line, place.run)?)?;
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    Ok(filled + rest)
}

/// A place in a template.
struct Place<'t> {
    run: &'t str,
    label: &'t str,
    path: &'t str,
    bounds: Option<(f64, f64)>,
}

/// The places of a line, in order.
fn places(line: usize, text: &str) -> Result<Vec<Place<'_>>, ReportError> {
    let form = || ReportError::Form { line, found: text.trim().to_owned() };
    let parts = text.split("{{").skip(1).map(|rest| rest.split_once("}}").and_then(|(place, _)| Place::parse(place)));
    parts.map(|place| place.ok_or_else(form)).collect()
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

    fn fill(&self, line: usize, summary: &Json) -> Result<String, ReportError> {
        let number = self.find(summary).ok_or_else(|| self.missing(line))?;
        match self.bounds {
            Some((low, high)) if !(low..=high).contains(&number) => {
                let (label, path) = (self.label.to_owned(), self.path.to_owned());
                Err(ReportError::Bounds { line, label, path, found: written(number), low, high })
            }
            _ => Ok(written(number)),
        }
    }

    fn missing(&self, line: usize) -> ReportError {
        ReportError::Missing { line, label: self.label.to_owned(), path: self.path.to_owned() }
    }

    /// The number, infinite where it is null.
    fn find(&self, summary: &Json) -> Option<f64> {
        if let Some((field, unit)) = self.field() {
            return Some(median_of_runs(summary, self.label, field)? / unit);
        }
        let found = self.path.split('.').try_fold(group(summary, self.label)?, |inner, key| inner.get(key))?;
        if found.is_null() { Some(f64::INFINITY) } else { found.as_f64() }
    }

    /// The field of runs that is asked for, and its unit, if it is one of runs.
    fn field(&self) -> Option<(&'t str, f64)> {
        let field = self.path.strip_prefix("run.")?;
        Some(field.strip_prefix("mega").map_or((field, 1.0), |field| (field, 1e6)))
    }
}

fn group<'s>(summary: &'s Json, label: &str) -> Option<&'s Json> {
    summary["groups"].as_array()?.iter().find(|group| group["label"] == label)
}

/// The median of a field over the runs of a group; a reduced summary has nothing else.
fn median_of_runs(summary: &Json, label: &str, field: &str) -> Option<f64> {
    let Some(runs) = summary["runs"].as_array() else { return group(summary, label)?["run"][field].as_f64() };
    let of_group = runs.iter().filter(|run| run["label"] == label);
    let mut values = of_group.map(|run| run[field].as_f64()).collect::<Option<Vec<f64>>>()?;
    values.sort_by(f64::total_cmp);
    median(&values)
}

/// The summaries of a folder, each read once.
struct Summaries {
    folder: PathBuf,
    read: BTreeMap<String, Json>,
}

impl Summaries {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: BTreeMap::new() }
    }

    fn get(&mut self, line: usize, run: &str) -> Result<&Json, ReportError> {
        let path = self.folder.join(run);
        match self.read.entry(run.to_owned()) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let reduced = || read_summary(&self.folder.join(format!("{run}.json")));
                let summary = read_summary(&path.join("summary.json")).or_else(reduced);
                Ok(entry.insert(summary.ok_or(ReportError::Run { line, path })?))
            }
        }
    }
}

/// Numbers as people write them: whole ones and those above 1,000 with commas, others with three digits.
fn written(number: f64) -> String {
    let size = number.abs();
    match number {
        number if number.is_infinite() => "never".to_owned(),
        number if size >= 1e9 => {
            let exponent = size.log10().floor() as i32;
            format!("{:.2} × 10{}", number / 10f64.powi(exponent), superscript(exponent))
        }
        number if size >= 1e3 || number == number.trunc() => with_commas(&format!("{number:.0}")),
        number if size >= 1e-3 => {
            let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
            with_commas(&format!("{number:.digits$}"))
        }
        number => format!("{number:.2e}"),
    }
}

/// A summary, whole or reduced, if it is there and can be understood.
fn read_summary(path: &Path) -> Option<Json> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
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
    fn numbers_are_written_as_people_write_them() {
        assert_eq!([0.0, 0.5, 12.345, 1e-5, 999.96].map(written), ["0", "0.500", "12.3", "1.00e-5", "1,000"]);
        assert_eq!([1234.5, 20000.0, 1355.0, -3020.2].map(written), ["1,234", "20,000", "1,355", "-3,020"]);
        assert_eq!([12_345_678.9, 1.234e9, 5e12].map(written), ["12,345,679", "1.23 × 10⁹", "5.00 × 10¹²"]);
    }
}
