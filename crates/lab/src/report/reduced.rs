//! Reduced summaries: the numbers that a template asks for, small enough to be kept beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::error::ReportError;
use super::summaries::{Summaries, group, median_of_runs};
use super::template::{TemplatePlace, places};

/// The parts of the summaries of runs that a template needs.
#[derive(Debug, Default, PartialEq)]
pub struct Reduced {
    /// The reduced summaries by the name of the run: JSON of the form of a summary, with the
    /// groups, paths and medians over runs that the template asks for.
    pub summaries: BTreeMap<String, String>,
    /// The runs that have no summary yet, or were stopped.
    pub missing: BTreeSet<String>,
}

/// Takes from the summaries of a folder what a template asks for. The same summaries give the same
/// bytes.
pub fn reduce(template: &str, runs: &Path) -> Result<Reduced, ReportError> {
    let mut from = Summaries::new(runs);
    let mut reduced: BTreeMap<&str, BTreeMap<&str, Json>> = BTreeMap::new();
    let mut missing = BTreeSet::new();
    for (line, text) in (1..).zip(template.lines()) {
        for place in places(line, text)? {
            match from.get(line, place.run) {
                Err(_) => _ = missing.insert(place.run.to_owned()),
                Ok(summary) => {
                    let group = reduced.entry(place.run).or_default().entry(place.label);
                    place
                        .copy(summary, group.or_insert_with(|| json!({ "label": place.label })))
                        .ok_or_else(|| place.missing(line))?;
                }
            }
        }
    }
    let text = |(run, groups): (&str, BTreeMap<&str, Json>)| {
        let summary = json!({ "name": run, "groups": groups.into_values().collect::<Vec<_>>() });
        (run.to_owned(), format!("{summary:#}\n"))
    };
    Ok(Reduced { summaries: reduced.into_iter().map(text).collect(), missing })
}

impl TemplatePlace<'_> {
    /// Copies the number from a summary into a group of a reduced one; `None` if it is not there.
    fn copy(&self, summary: &Json, to: &mut Json) -> Option<()> {
        let (path, value): (Vec<&str>, Json) = if let Some((field, _)) = self.field() {
            (vec!["run", field], json!(median_of_runs(summary, self.label, field)?))
        } else {
            let path: Vec<&str> = self.path.split('.').collect();
            let found = path.iter().try_fold(group(summary, self.label)?, |inner, key| inner.get(key))?;
            (path, found.clone())
        };
        let (last, tables) = path.split_last()?;
        let inner = tables.iter().try_fold(to, |inner, key| {
            let table = inner.as_object_mut()?;
            Some(table.entry(*key).or_insert_with(|| Json::Object(Map::new())))
        })?;
        inner.as_object_mut()?.insert((*last).to_owned(), value);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::filled::report;
    use super::*;

    const TEMPLATE: &str = "# A\n{{ a | x | diverged }}, {{ a | x | final.e.median in 0..1 }}, \
        {{ a | y | reached_at.median }} and {{ a | x | run.seconds }}, {{ a | x | run.megabytes }}\n";

    #[test]
    fn a_report_from_reduced_summaries_is_the_report_from_whole_ones() {
        let (whole, small) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let summary = r#"{"runs": [{"label": "x", "seconds": 0.1, "bytes": 3e6},
            {"label": "x", "seconds": 0.2, "bytes": 5e6}, {"label": "y", "seconds": 9}],
            "groups": [{"label": "x", "diverged": 3, "final": {"e": {"median": 0.1234567890123, "mean": 7}}},
            {"label": "y", "reached_at": {"median": null}}]}"#;
        std::fs::create_dir(whole.path().join("a")).unwrap();
        std::fs::write(whole.path().join("a/summary.json"), summary).unwrap();
        let Reduced { summaries, missing } = reduce(TEMPLATE, whole.path()).unwrap();
        assert_eq!((missing, summaries.len()), (BTreeSet::new(), 1));
        assert!(!summaries["a"].contains("mean\""), "only what is asked for: {}", summaries["a"]);
        std::fs::write(small.path().join("a.json"), &summaries["a"]).unwrap();
        let page = report(TEMPLATE, whole.path()).unwrap();
        assert_eq!(page, "# A\n3, 0.123, never and 0.150, 4\n");
        assert_eq!(report(TEMPLATE, small.path()).unwrap(), page);
        // A reduced summary can be reduced again, to the same bytes.
        assert_eq!(reduce(TEMPLATE, small.path()).unwrap().summaries, summaries);
    }

    #[test]
    fn a_run_that_was_stopped_is_no_source() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let write = |unfinished: usize| {
            let group = format!(r#"{{"label": "x", "diverged": 3, "unfinished": {unfinished}}}"#);
            std::fs::write(folder.path().join("a/summary.json"), format!(r#"{{"groups": [{group}]}}"#)).unwrap();
        };
        let template = "{{ a | x | diverged }}";
        write(0);
        assert_eq!(report(template, folder.path()).unwrap(), "3\n");
        write(1);
        let message = report(template, folder.path()).unwrap_err().to_string();
        assert!(message.contains("was stopped") && message.contains("--resume"), "{message}");
        let reduced = reduce(template, folder.path()).unwrap();
        assert_eq!((reduced.summaries.len(), reduced.missing.len()), (0, 1));
    }

    #[test]
    fn runs_without_a_summary_are_named() {
        let nothing = tempfile::tempdir().unwrap();
        let reduced = reduce(TEMPLATE, nothing.path()).unwrap();
        assert_eq!(reduced.missing.into_iter().collect::<Vec<_>>(), ["a"]);
        assert!(reduced.summaries.is_empty());
    }
}
