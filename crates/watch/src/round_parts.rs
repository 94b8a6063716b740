//! How long the parts of rounds take.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How long the parts of a round took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RoundParts {
    /// The evaluation of the agent's functions.
    pub compute: u32,
    /// The time in which there was nothing to do but wait for the clock and for others.
    pub wait: u32,
    /// Everything else that the agent does itself: messages, mixing, books.
    pub mix: u32,
    /// Records and checkpoints.
    pub disk: u32,
}

/// The parts of the last rounds of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct LatestRounds {
    /// The number of rounds that were measured so far.
    pub measured: u64,
    /// The last of them, the oldest first.
    pub rounds: VecDeque<RoundParts>,
}

impl RoundParts {
    /// The time in which the agent did not wait.
    pub(crate) fn work(self) -> u64 {
        u64::from(self.compute) + u64::from(self.mix) + u64::from(self.disk)
    }
}

impl LatestRounds {
    /// The number of rounds that are kept.
    const KEPT: usize = 20;

    /// Adds a round.
    pub fn add(&mut self, round: RoundParts) {
        if self.rounds.len() == Self::KEPT {
            self.rounds.pop_front();
        }
        self.rounds.push_back(round);
        self.measured += 1;
    }

    /// The rounds that were measured after this many, as far as they are kept; all of them if fewer
    /// were measured, since the count then began anew.
    pub(crate) fn after(&self, measured: u64) -> impl Iterator<Item = RoundParts> {
        let new = self.measured.checked_sub(measured).unwrap_or(self.measured);
        self.rounds.iter().copied().skip(self.rounds.len().saturating_sub(new as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rounds_are_kept_and_new_ones_are_told_from_old_ones() {
        let mut latest = LatestRounds::default();
        (0..50).for_each(|mix| latest.add(RoundParts { mix, ..RoundParts::default() }));
        let after = |measured| latest.after(measured).map(|round| round.mix).collect::<Vec<_>>();
        assert_eq!((after(48), after(50)), (vec![48, 49], vec![]));
        assert_eq!(after(0), (30..50).collect::<Vec<_>>());
        assert_eq!(after(70).len(), 20, "another life has begun to count");
    }
}
