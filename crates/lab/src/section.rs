//! The sections of an experiment file whose kinds come from registries.

use fabnet_core::algorithm::{Steps, methods};
use fabnet_core::settings::{Key, Keys};
use fabnet_core::topology::topologies;
use fabnet_core::weights::weights;

use crate::problem::problems;

/// One such section.
pub struct Section {
    /// As users write it.
    pub name: &'static str,
    /// What stands there if nothing is said.
    pub default: Option<&'static str>,
    /// What may stand there.
    pub kinds: Vec<Kind>,
    /// Keys that may stand beside those of its kind, and are read elsewhere.
    pub(crate) beside: &'static [&'static str],
}

/// What an algorithm may say differently from the file.
pub(crate) const OVERRIDES: &[&str] = IN_ALGORITHM.split_at(1).1;

/// What may stand in an algorithm's table besides its settings: its label, and what it says differently.
const IN_ALGORITHM: &[&str] =
    &["label", "agents", "rounds", "precision", "problem", "topology", "weights", "faults", "network"];

/// One entry of a registry, as the lab needs it.
pub struct Kind {
    /// As users write it.
    pub name: &'static str,
    /// In one line.
    pub about: &'static str,
    read: Box<dyn Fn(&mut Keys<'_>)>,
}

impl Section {
    /// `[problem]`.
    pub fn problem() -> Self {
        let kind =
            |kind: fabnet_problems::Kind<f64>| Kind::new(kind.name, kind.about, move |keys| _ = (kind.read)(keys));
        Self { name: "problem", default: None, kinds: problems().into_iter().map(kind).collect(), beside: &[] }
    }

    /// `[topology]`.
    pub fn topology() -> Self {
        let kind = |kind: fabnet_core::topology::TopologyKind| {
            Kind::new(kind.name, kind.about, move |keys| {
                let _ = kind.read(keys);
                allows_disconnected(keys);
            })
        };
        Self {
            name: "topology",
            default: Some("phases"),
            kinds: topologies().into_iter().map(kind).collect(),
            beside: &[],
        }
    }

    /// `[weights]`.
    pub fn weights() -> Self {
        let kind = |kind: fabnet_core::weights::WeightsKind| {
            Kind::new(kind.name, kind.about, move |keys| _ = (kind.read)(keys))
        };
        Self {
            name: "weights",
            default: Some("uniform"),
            kinds: weights().into_iter().map(kind).collect(),
            beside: &[],
        }
    }

    /// `[[algorithm]]`.
    pub fn algorithm() -> Self {
        let kind = |method: fabnet_core::algorithm::Method<f64>| {
            Kind::new(method.name, method.about, move |keys| {
                let _ = (method.read)(keys);
                if Steps::read(keys, method.direction.steps).is_none() && !method.direction.automatic {
                    let sizes: Vec<String> =
                        method.direction.steps.iter().map(|name| format!("{name} = 0.1")).collect();
                    let sizes = sizes.join(", ");
                    keys.mistake(
                        "steps",
                        format!(
                            "`{}` has no automatic step sizes: give them, such as steps = {{ {sizes} }}",
                            method.name
                        ),
                    );
                }
            })
        };
        Self {
            name: "algorithm",
            default: None,
            kinds: methods().into_iter().map(kind).collect(),
            beside: IN_ALGORITHM,
        }
    }

    /// The names of all kinds.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.kinds.iter().map(|kind| kind.name)
    }
}

impl Kind {
    fn new(name: &'static str, about: &'static str, read: impl Fn(&mut Keys<'_>) + 'static) -> Self {
        Self { name, about, read: Box::new(read) }
    }

    /// Asks for its settings.
    pub fn read(&self, keys: &mut Keys<'_>) {
        (self.read)(keys);
    }

    /// What can be set, with its defaults.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = Keys::new(&[]);
        self.read(&mut keys);
        keys.into_asked()
    }
}

/// Whether a run may go ahead although its agents cannot all hear of each other.
pub(crate) fn allows_disconnected(keys: &mut Keys<'_>) -> bool {
    keys.flag("allow_disconnected", false, "go ahead although the agents never all hear of each other")
}
