//! Ways between a hub and all agents.

/// Between the hub, which is agent 0, and all agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Information of the hub goes to all agents.
    FromHub,
    /// Information of all agents goes to the hub; it is followed backwards in time.
    ToHub,
}

impl Flow {
    /// The round that is passed when this many have been passed, if the hub sends in round 0, or
    /// has received everything before it.
    pub(super) fn round(self, elapsed: u64, rounds: u64) -> u64 {
        match self {
            Self::FromHub => elapsed % rounds,
            Self::ToHub => rounds - 1 - elapsed % rounds,
        }
    }
}
