//! The places of a template that are filled in.

use serde_json::Value as Json;

use super::error::ReportError;
use super::number::written;
use super::summaries::{group, median_of_runs};

/// A place of a template: which number stands there, and what the text says about it.
pub(super) struct TemplatePlace<'t> {
    /// The name of the run.
    pub(super) run: &'t str,
    /// The label of the group.
    pub(super) label: &'t str,
    /// The path of the number within the group.
    pub(super) path: &'t str,
    /// The least and the largest number with which the text holds.
    bounds: Option<(f64, f64)>,
}

/// The places of a line, in order.
pub(super) fn places(line: usize, text: &str) -> Result<Vec<TemplatePlace<'_>>, ReportError> {
    let form = || ReportError::Form { line, found: text.trim().to_owned() };
    let parts = text.split("{{").skip(1);
    let parsed = parts.map(|rest| rest.split_once("}}").and_then(|(place, _)| TemplatePlace::parse(place)));
    parsed.map(|place| place.ok_or_else(form)).collect()
}

impl<'t> TemplatePlace<'t> {
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

    /// The text that stands in this place.
    pub(super) fn fill(&self, line: usize, summary: &Json) -> Result<String, ReportError> {
        let number = self.find(summary).ok_or_else(|| self.missing(line))?;
        match self.bounds {
            Some((low, high)) if !(low..=high).contains(&number) => {
                let (label, path) = (self.label.to_owned(), self.path.to_owned());
                Err(ReportError::Bounds { line, label, path, found: written(number), low, high })
            }
            _ => Ok(written(number)),
        }
    }

    /// The error that a summary does not have the number.
    pub(super) fn missing(&self, line: usize) -> ReportError {
        ReportError::Missing { line, label: self.label.to_owned(), path: self.path.to_owned() }
    }

    /// The number of a summary; infinite where it is null.
    fn find(&self, summary: &Json) -> Option<f64> {
        if let Some((field, unit)) = self.field() {
            return Some(median_of_runs(summary, self.label, field)? / unit);
        }
        let found = self.path.split('.').try_fold(group(summary, self.label)?, |inner, key| inner.get(key))?;
        if found.is_null() { Some(f64::INFINITY) } else { found.as_f64() }
    }

    /// The field of runs that is asked for, and its unit, if the path leads to runs.
    pub(super) fn field(&self) -> Option<(&'t str, f64)> {
        let field = self.path.strip_prefix("run.")?;
        Some(field.strip_prefix("mega").map_or((field, 1.0), |field| (field, 1e6)))
    }
}
