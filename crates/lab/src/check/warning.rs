//! What may go wrong with a plan.

use serde::Serialize;

/// Something that may go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The group that is concerned; `None` for several groups, or for the network.
    pub group: Option<String>,
    /// The kind of the warning.
    pub kind: WarningKind,
    /// The warning in words.
    pub message: String,
}

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WarningKind {
    /// Runs may diverge.
    Divergence,
    /// Information from some agents never reaches others.
    Disconnected,
    /// The constant κ of the network is small, so that runs take many rounds.
    Kappa,
    /// The data of some agents is on another scale than that of the others.
    Scale,
}

impl Warning {
    /// The warning that data is on different scales.
    pub(super) fn of_scale(message: String) -> Self {
        Self { group: None, kind: WarningKind::Scale, message }
    }
}
