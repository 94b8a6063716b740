//! Where settings come from.

use super::value::Value;

/// Where values come from: a table of a file, or a list in a program.
pub trait SettingsSource {
    /// The value of a key, if one was given. Keys of inner tables are dotted: `steps.x`.
    fn get(&self, key: &str) -> Option<Value>;

    /// The contents of a file that a key names.
    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("`{path}` cannot be read here: files are read for experiments only"))
    }
}

impl SettingsSource for &[(&str, Value)] {
    fn get(&self, key: &str) -> Option<Value> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone())
    }
}

impl<const N: usize> SettingsSource for [(&str, Value); N] {
    fn get(&self, key: &str) -> Option<Value> {
        SettingsSource::get(&self.as_slice(), key)
    }
}
