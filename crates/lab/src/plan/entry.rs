//! One entry of a plan: a kind from a registry with all its settings.

use fabnet_core::settings::{SettingsSource, Value};

use super::origin::EntryOrigin;

/// A kind with every setting that it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanEntry {
    /// The name in its registry; empty for tables that have no kinds, such as `[faults]`.
    pub kind: String,
    /// Every key that is set, dotted, with its value.
    pub settings: Vec<(String, Value)>,
    /// Where the settings were written, for messages.
    pub origin: EntryOrigin,
}

impl SettingsSource for PlanEntry {
    fn get(&self, key: &str) -> Option<Value> {
        if key == "kind" {
            return Some(Value::from(self.kind.as_str()));
        }
        self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}
