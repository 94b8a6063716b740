//! Numbers of rounds that may be known as upper bounds only.

/// A number of rounds: the exact one, or an upper bound where the exact one would take too long to
/// compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// The number itself.
    Exact(u64),
    /// The number is at most this.
    AtMost(u64),
}

impl Rounds {
    /// The number, or its upper bound.
    pub fn bound(self) -> u64 {
        match self {
            Self::Exact(rounds) | Self::AtMost(rounds) => rounds,
        }
    }

    /// Whether it is the number itself.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Exact(_))
    }
}
