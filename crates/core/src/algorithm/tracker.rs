//! The order of mixing and adding.

/// When a change of the direction is mixed: both are found in practice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracker {
    /// `t⁺ = B t + d⁺ − d`: in the round after it is made.
    #[default]
    MixThenAdd,
    /// `t⁺ = B (t + d⁺ − d)`: at once.
    AddThenMix,
}

impl Tracker {
    /// Both, by the names that users write.
    pub(super) const NAMES: [(&'static str, Self); 2] =
        [("mix-then-add", Self::MixThenAdd), ("add-then-mix", Self::AddThenMix)];
}
