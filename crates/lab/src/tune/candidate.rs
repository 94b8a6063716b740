//! The candidates of the search: a penalty and two step sizes.

use fabnet_core::algorithm::{Auto, Steps};
use fabnet_core::settings::{SettingsSource, Value};

use crate::check::smoothness;
use crate::plan::Group;
use crate::run::{Setup, SetupError};

/// A candidate: the penalty, the step size of x, and the one that all lower variables share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) penalty: Option<f64>,
    pub(super) x: f64,
    pub(super) lower: f64,
}

impl Candidate {
    /// The setting of the file, if it gives step sizes and those of all lower variables are equal.
    pub(super) fn of(group: &Group, names: &[&str]) -> Option<Self> {
        let step = |name: &str| number(group, &format!("steps.{name}"));
        let (x, lower) = (step(names[0])?, step(names[names.len() - 1])?);
        names[1..].iter().all(|name| step(name) == Some(lower)).then_some(Self {
            penalty: number(group, "penalty"),
            x,
            lower,
        })
    }

    /// The candidate with step sizes rounded to three digits: more would pretend an accuracy that
    /// the comparison does not have.
    pub(super) fn rounded(self) -> Self {
        let digits = |size: f64| format!("{size:.2e}").parse().unwrap_or(size);
        Self { x: digits(self.x), lower: digits(self.lower), ..self }
    }

    /// The candidates around this one, by this factor; there may be lower variables or not.
    pub(super) fn around(self, has_lower: bool, factor: f64) -> Vec<Self> {
        let lower: &[f64] = if has_lower { &[1.0, factor, 1.0 / factor] } else { &[1.0] };
        let with = |x: f64, lower: f64| Self { x: self.x * x, lower: self.lower * lower, ..self }.rounded();
        [factor, 1.0, 1.0 / factor].iter().flat_map(|&x| lower.iter().map(move |&lower| with(x, lower))).collect()
    }
}

/// Step sizes of x and of the lower variables that should work on every network.
pub(super) fn suggestion(group: &Group, seed: u64) -> Result<[f64; 2], SetupError> {
    let setup = Setup::<f64>::with_steps(group, seed, Steps::same(0.0))?;
    let [x, lower, _] = Auto::cautious_sizes(setup.algorithm.direction(), &smoothness(&setup));
    Ok([x, lower])
}

/// The group with this penalty, if it has one.
pub(super) fn with_penalty(group: &Group, penalty: Option<f64>) -> Group {
    let mut group = group.clone();
    for (key, value) in &mut group.algorithm.settings {
        if let (Some(penalty), "penalty") = (penalty, key.as_str()) {
            *value = Value::Number(penalty);
        }
    }
    group
}

/// The group with the setting of a candidate; momentum and decay stay as they are.
pub(super) fn with_steps(group: &Group, names: &[&str], candidate: Candidate) -> Group {
    let mut group = with_penalty(group, candidate.penalty);
    let settings = &mut group.algorithm.settings;
    settings.retain(|(key, _)| key != "steps" && !names.iter().any(|name| *key == format!("steps.{name}")));
    for name in names {
        let size = if *name == names[0] { candidate.x } else { candidate.lower };
        settings.push((format!("steps.{name}"), Value::Number(size)));
    }
    group
}

/// A number among the settings of a group's method, by its key.
pub(super) fn number(group: &Group, key: &str) -> Option<f64> {
    if let Some(Value::Number(number)) = group.algorithm.get(key) { Some(number) } else { None }
}
