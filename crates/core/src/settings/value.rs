//! The values of settings.

use std::fmt::Display;
use std::ops::RangeBounds;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value that is true or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number, which need not be whole.
    Number(f64),
    /// A word or a text.
    Text(String),
}

impl Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A whole number within bounds, if the value is one.
pub(super) fn whole(value: &Value, within: &impl RangeBounds<u64>) -> Option<u64> {
    let Value::Whole(number) = *value else { return None };
    u64::try_from(number).ok().filter(|number| within.contains(number))
}

/// A number within bounds, if the value is one.
pub(super) fn number(value: &Value, within: &impl RangeBounds<f64>) -> Option<f64> {
    let number = match *value {
        Value::Number(number) => number,
        Value::Whole(number) => number as f64,
        Value::Flag(_) | Value::Text(_) => return None,
    };
    (number.is_finite() && within.contains(&number)).then_some(number)
}
