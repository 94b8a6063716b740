//! The sections of an experiment file whose kinds come from registries.

use fabnet_core::algorithm::{Method, methods};
use fabnet_core::settings::{Setting, SettingsReader};
use fabnet_core::topology::topologies;
use fabnet_core::weights::weights;

use crate::problems::problems;
use crate::settings::allows_disconnected;

/// A section of an experiment file whose kinds come from a registry.
pub struct Section {
    /// The name that users write in a file.
    pub name: &'static str,
    /// The kind that is taken if the file names none.
    pub default: Option<&'static str>,
    /// The kinds that a file may name.
    pub kinds: Vec<RegistryEntry>,
    /// Keys that may stand beside those of the kind, and are read elsewhere.
    pub(super) beside: &'static [&'static str],
}

/// The keys of an experiment file that an `[[algorithm]]` may override.
pub(super) const OVERRIDES: &[&str] = IN_ALGORITHM.split_at(1).1;

/// What may stand in an algorithm's table besides its settings: its label and what it overrides.
const IN_ALGORITHM: &[&str] = &[
    "label",
    "agents",
    "rounds",
    "settle",
    "precision",
    "problem",
    "topology",
    "weights",
    "faults",
    "network",
    "wire",
];

/// One entry of a registry: its name, and how its settings are read.
pub struct RegistryEntry {
    /// The name that users write in a file.
    pub name: &'static str,
    /// What the entry is, in one line.
    pub about: &'static str,
    read: Box<dyn Fn(&mut SettingsReader<'_>)>,
}

impl Section {
    /// The section `[problem]`.
    pub fn problem() -> Self {
        let entry = |kind: fabnet_problems::ProblemKind<f64>| {
            RegistryEntry::new(kind.name, kind.about, move |keys| _ = (kind.read)(keys))
        };
        Self { name: "problem", default: None, kinds: problems().into_iter().map(entry).collect(), beside: &[] }
    }

    /// The section `[topology]`.
    pub fn topology() -> Self {
        let entry = |kind: fabnet_core::topology::TopologyKind| {
            RegistryEntry::new(kind.name, kind.about, move |keys| {
                let _ = kind.read(keys);
                allows_disconnected(keys);
            })
        };
        let kinds = topologies().into_iter().map(entry).collect();
        Self { name: "topology", default: Some("phases"), kinds, beside: &[] }
    }

    /// The section `[weights]`.
    pub fn weights() -> Self {
        let entry = |kind: fabnet_core::weights::WeightsKind| {
            RegistryEntry::new(kind.name, kind.about, move |keys| _ = (kind.read)(keys))
        };
        let kinds = weights().into_iter().map(entry).collect();
        Self { name: "weights", default: Some("uniform"), kinds, beside: &[] }
    }

    /// The section `[[algorithm]]`.
    pub fn algorithm() -> Self {
        let entry =
            |method: Method<f64>| RegistryEntry::new(method.name, method.about, move |keys| read_method(&method, keys));
        let kinds = methods().into_iter().map(entry).collect();
        Self { name: "algorithm", default: None, kinds, beside: IN_ALGORITHM }
    }

    /// The names of all kinds.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.kinds.iter().map(|kind| kind.name)
    }
}

/// Reads the settings of a method, and reports step sizes that are missing.
fn read_method(method: &Method<f64>, keys: &mut SettingsReader<'_>) {
    let _ = (method.read)(keys);
    if method.read_steps(keys).is_none() && !method.direction.automatic {
        let sizes: Vec<String> = method.direction.steps.iter().map(|name| format!("{name} = 0.1")).collect();
        let example = format!("steps = {{ {} }}", sizes.join(", "));
        let message = format!("`{}` has no automatic step sizes: give them, such as {example}", method.name);
        keys.mistake("steps", message);
    }
}

impl RegistryEntry {
    fn new(name: &'static str, about: &'static str, read: impl Fn(&mut SettingsReader<'_>) + 'static) -> Self {
        Self { name, about, read: Box::new(read) }
    }

    /// Reads the settings of the entry.
    pub fn read(&self, keys: &mut SettingsReader<'_>) {
        (self.read)(keys);
    }

    /// The keys that can be set, with their defaults.
    pub fn keys(&self) -> Vec<Setting> {
        let mut keys = SettingsReader::new(&[]);
        self.read(&mut keys);
        keys.into_asked()
    }
}
