//! What is known of a setting, and what can be wrong with it.

use super::accepts::Accepts;
use super::value::Value;

/// A key that a part understands.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key, as users write it.
    pub name: String,
    /// The values that it accepts.
    pub accepts: Accepts,
    /// What is written down: as given, or the default. None means that nothing was given and the
    /// key needs nothing, or that another key says it.
    pub value: Option<Value>,
    /// What the key is for, in one line.
    pub about: String,
}

/// A value of a setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The key of the value.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}
