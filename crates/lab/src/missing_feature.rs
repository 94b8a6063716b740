//! What this build lacks because it was built without a feature.

use std::fmt::{Display, Formatter};

/// Something needs a feature that this build does not have. The message says how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MissingFeature {
    /// What needs the feature, as the subject of a sentence.
    pub what: String,
    /// The name of the feature, as cargo knows it.
    pub feature: &'static str,
}

impl MissingFeature {
    /// What needs a feature, as the subject of a sentence, and the feature.
    pub fn new(what: impl Into<String>, feature: &'static str) -> Self {
        Self { what: what.into(), feature }
    }
}

impl Display for MissingFeature {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { what, feature } = self;
        write!(
            f,
            "{what} needs the feature `{feature}`, which this fabnet was built without: \
             install it with `cargo install --locked --path crates/cli --features {feature}`"
        )
    }
}
