//! What is asked for when figures are drawn again.

use std::collections::BTreeSet;

use super::band::Band;
use super::effort::Effort;
use super::error::FigureError;
use super::format::Format;
use super::length::Length;
use crate::metric::known_for;
use crate::mistake::suggest;
use crate::problem::problems;

/// Which figures are drawn, and how. What is not said is as usual.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only this metric; else all that were recorded.
    pub metric: Option<String>,
    /// Only by this effort; else by all.
    pub by: Option<Effort>,
    /// What bands show; else quartiles on logarithmic axes and standard deviations on linear ones.
    pub band: Option<Band>,
    /// As printed. With a width, figures are for print, where a caption takes the place of the title.
    pub width: Option<Length>,
    /// If none is given, SVG and PNG.
    pub formats: Vec<Format>,
    /// Other names of groups, each as `OLD=NEW`.
    pub labels: Vec<String>,
}

impl Request {
    /// Of a sheet for the screen: the text of a page.
    const WIDTH: Length = Length::inches(6.5);

    pub(super) fn points(&self) -> f64 {
        self.width.unwrap_or(Self::WIDTH).points
    }

    pub(super) fn formats(&self) -> &[Format] {
        if self.formats.is_empty() { &Format::USUAL } else { &self.formats }
    }

    /// The metrics to draw of those that were recorded, by their places.
    pub(super) fn metrics(&self, recorded: &[String]) -> Result<Vec<usize>, FigureError> {
        let Some(wanted) = &self.metric else { return Ok((0..recorded.len()).collect()) };
        if let Some(place) = recorded.iter().position(|name| name == wanted) {
            return Ok(vec![place]);
        }
        let message = if known_for(problems::<f64>().iter().map(|problem| problem.name)).contains(&wanted.as_str()) {
            format!("`{wanted}` was not recorded; these were: {}", recorded.join(", "))
        } else {
            format!(
                "`{wanted}` is no metric of these records: {}",
                suggest(wanted, recorded.iter().map(String::as_str))
            )
        };
        Err(FigureError::Usage(format!("--metric: {message}")))
    }

    /// The names of groups, some of them replaced.
    pub(super) fn renamed(&self, labels: &[String]) -> Result<Vec<String>, FigureError> {
        let mut names = labels.to_vec();
        for rule in &self.labels {
            let (old, new) = split(rule, labels)?;
            names.iter_mut().zip(labels).filter(|(_, label)| *label == old).for_each(|(name, _)| new.clone_into(name));
        }
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() < names.len() {
            return Err(FigureError::Usage("--label: two groups would have the same name".to_owned()));
        }
        Ok(names)
    }
}

/// The two sides of a rule. Labels may hold equals signs themselves, so the left side is the longest label that fits.
fn split<'r>(rule: &'r str, labels: &[String]) -> Result<(&'r str, &'r str), FigureError> {
    let sides = rule.match_indices('=').map(|(place, _)| (&rule[..place], &rule[place + 1..]));
    let mut known = sides.clone().filter(|(old, _)| labels.iter().any(|label| label == old));
    let message = match (known.next_back(), sides.clone().next()) {
        (Some((_, new)), _) if new.trim().is_empty() => format!("`{rule}` leaves no name"),
        (Some(sides), _) => return Ok(sides),
        (None, None) => format!("`{rule}` is not of the form OLD=NEW"),
        (None, Some((old, _))) => {
            format!("there is no label `{old}`: {}", suggest(old, labels.iter().map(String::as_str)))
        }
    };
    Err(FigureError::Usage(format!("--label: {message}")))
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
