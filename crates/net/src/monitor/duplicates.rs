//! Whether two processes act as the same member.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fabnet_core::peer::Incarnation;

/// Notices agents whose incarnation changes again and again: each of two processes hears of a later
/// incarnation of its own and begins a new one. A node that is restarted does so once in a while;
/// two processes do so several times a second.
#[derive(Debug)]
pub(crate) struct DuplicateDetector {
    every: Duration,
    last_check: Duration,
    /// The last known incarnation of each agent, and how many checks in succession have found a new
    /// one.
    known: BTreeMap<u32, (Incarnation, u32)>,
    found: BTreeSet<u32>,
}

impl DuplicateDetector {
    /// The checks in succession that must find a new incarnation.
    const CHECKS: u32 = 6;

    /// Checks at most twice in a second, and not more often than a new incarnation can become
    /// known, which takes a few ticks.
    pub(crate) fn new(tick: Duration, now: Duration) -> Self {
        let every = Duration::from_millis(500).max(8 * tick);
        Self { every, last_check: now, known: BTreeMap::new(), found: BTreeSet::new() }
    }

    /// Takes in the incarnations that are known now, if it is time for a check; returns the agents
    /// that are newly found to be two processes.
    pub(crate) fn check(&mut self, incarnations: impl Iterator<Item = (u32, Incarnation)>, now: Duration) -> Vec<u32> {
        if now.saturating_sub(self.last_check) < self.every {
            return Vec::new();
        }
        self.last_check = now;
        let mut news = Vec::new();
        for (agent, incarnation) in incarnations {
            let (known, changes) = self.known.entry(agent).or_insert((incarnation, 0));
            *changes = if *known == incarnation { 0 } else { *changes + 1 };
            *known = incarnation;
            if *changes >= Self::CHECKS && self.found.insert(agent) {
                news.push(agent);
            }
        }
        news
    }

    /// All agents that were found to be two processes.
    pub(crate) fn found(&self) -> &BTreeSet<u32> {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_SECOND: Duration = Duration::from_millis(500);

    fn incarnation(counter: u64) -> Incarnation {
        Incarnation { counter, nonce: 0 }
    }

    #[test]
    fn incarnations_that_change_all_the_time_are_noticed_and_restarts_are_not() {
        let mut detector = DuplicateDetector::new(Duration::from_millis(50), Duration::ZERO);
        let mut found = Vec::new();
        for check in 1..40 {
            // Agent 1 is restarted every two seconds, agent 2 runs twice.
            let known = [(1, incarnation(check / 4)), (2, incarnation(3 * check))];
            found.extend(detector.check(known.into_iter(), HALF_SECOND * check as u32));
        }
        assert_eq!(found, [2], "it is said once");
        assert_eq!(detector.found(), &BTreeSet::from([2]));
    }

    #[test]
    fn checks_that_come_too_soon_are_left_out() {
        let mut detector = DuplicateDetector::new(Duration::from_millis(50), Duration::ZERO);
        for change in 0..400 {
            let known = std::iter::once((2, incarnation(change)));
            // Within one second there are two checks, however often it is asked.
            assert_eq!(detector.check(known, Duration::from_millis(change)), [0; 0]);
        }
        let slow = DuplicateDetector::new(Duration::from_secs(1), Duration::ZERO);
        assert_eq!(slow.every, Duration::from_secs(8), "slow ticks make news slow");
    }
}
