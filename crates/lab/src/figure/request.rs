//! Which figures are requested.

use std::collections::BTreeSet;

use super::band::Band;
use super::effort::Effort;
use super::format::Format;
use super::length::Length;
use super::request_error::RequestError;
use crate::file::suggest;
use crate::metric::known_for;
use crate::problems::problems;

/// Which figures are drawn, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The only metric to draw; all that were recorded if none is given.
    pub metric: Option<String>,
    /// The only effort to draw by; all of them if none is given.
    pub by: Option<Effort>,
    /// What bands show. If not given, these are quartiles on logarithmic axes and standard
    /// deviations on linear ones.
    pub band: Option<Band>,
    /// The printed width. With a width, figures are for print, where a caption replaces the title.
    pub width: Option<Length>,
    /// The file formats; SVG and PNG if none is given.
    pub formats: Vec<Format>,
    /// New labels of groups, each as `OLD=NEW`.
    pub labels: Vec<String>,
}

impl Request {
    /// The width of a figure for the screen, which is that of a page's text.
    const WIDTH: Length = Length::inches(6.5);

    /// The width of figures, in points.
    pub(super) fn points(&self) -> f64 {
        self.width.unwrap_or(Self::WIDTH).points
    }

    /// The file formats.
    pub(super) fn formats(&self) -> &[Format] {
        if self.formats.is_empty() { Format::DEFAULTS } else { &self.formats }
    }

    /// The metrics to draw, as indices into those that were recorded.
    pub(super) fn metrics(&self, recorded: &[String]) -> Result<Vec<usize>, RequestError> {
        let Some(wanted) = &self.metric else { return Ok((0..recorded.len()).collect()) };
        if let Some(place) = recorded.iter().position(|name| name == wanted) {
            return Ok(vec![place]);
        }
        let metric = wanted.clone();
        if known_for(problems::<f64>().iter().map(|problem| problem.name)).contains(&wanted.as_str()) {
            return Err(RequestError::NotRecorded { metric, recorded: recorded.to_vec() });
        }
        let suggestion = suggest(wanted, recorded.iter().map(String::as_str));
        Err(RequestError::UnknownMetric { metric, suggestion })
    }

    /// The labels of groups, some of them replaced.
    pub(super) fn renamed(&self, labels: &[String]) -> Result<Vec<String>, RequestError> {
        let mut names = labels.to_vec();
        for rule in &self.labels {
            let (old, new) = split(rule, labels)?;
            names.iter_mut().zip(labels).filter(|(_, label)| *label == old).for_each(|(name, _)| new.clone_into(name));
        }
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() < names.len() {
            return Err(RequestError::SameLabel);
        }
        Ok(names)
    }
}

/// The two sides of a rule `OLD=NEW`. Labels may contain equals signs, so the left side is the
/// longest label that fits.
fn split<'r>(rule: &'r str, labels: &[String]) -> Result<(&'r str, &'r str), RequestError> {
    let sides = rule.match_indices('=').map(|(place, _)| (&rule[..place], &rule[place + 1..]));
    let mut known = sides.clone().filter(|(old, _)| labels.iter().any(|label| label == old));
    match (known.next_back(), sides.clone().next()) {
        (Some((_, new)), _) if new.trim().is_empty() => Err(RequestError::EmptyLabel { rule: rule.to_owned() }),
        (Some(sides), _) => Ok(sides),
        (None, None) => Err(RequestError::LabelForm { rule: rule.to_owned() }),
        (None, Some((old, _))) => {
            let suggestion = suggest(old, labels.iter().map(String::as_str));
            Err(RequestError::UnknownLabel { label: old.to_owned(), suggestion })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Vec<String> {
        ["fab", "fab x=0.1", "dfab"].map(str::to_owned).to_vec()
    }

    fn renamed(rules: &[&str]) -> Result<Vec<String>, String> {
        let request = Request { labels: rules.iter().map(|rule| (*rule).to_owned()).collect(), ..Request::default() };
        request.renamed(&labels()).map_err(|error| error.to_string())
    }

    #[test]
    fn labels_are_replaced_also_those_with_equals_signs() {
        assert_eq!(renamed(&["dfab=dFAB", "fab=FAB"]).unwrap(), ["FAB", "fab x=0.1", "dFAB"]);
        assert_eq!(renamed(&["fab x=0.1=η = 0.1"]).unwrap(), ["fab", "η = 0.1", "dfab"]);
    }

    #[test]
    fn wrong_rules_say_what_there_is() {
        assert!(renamed(&["fab"]).unwrap_err().contains("OLD=NEW"));
        assert!(renamed(&["dfav=dFAB"]).unwrap_err().contains("did you mean `dfab`?"));
        assert!(renamed(&["something=else"]).unwrap_err().contains("known are fab, fab x=0.1, dfab"));
        assert!(renamed(&["fab="]).unwrap_err().contains("no name"));
        assert!(renamed(&["fab=dfab"]).unwrap_err().contains("same name"));
    }

    #[test]
    fn metrics_are_those_recorded() {
        let recorded = ["relative_error", "own"].map(str::to_owned);
        let metrics = |metric: &str| {
            let request = Request { metric: Some(metric.to_owned()), ..Request::default() };
            request.metrics(&recorded).map_err(|error| error.to_string())
        };
        assert_eq!(Request::default().metrics(&recorded).unwrap(), [0, 1]);
        assert_eq!(metrics("own").unwrap(), [1]);
        assert!(metrics("relativ_error").unwrap_err().contains("did you mean `relative_error`"));
        let missing = metrics("upper").unwrap_err();
        assert!(missing.contains("was not recorded") && missing.contains("relative_error, own"), "{missing}");
    }
}
