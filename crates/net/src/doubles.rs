//! Whether two processes act as the same member.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fabnet_core::peer::Incarnation;

/// Notices agents whose life changes again and again: each of two processes hears of a later life of
/// its own and begins a new one. A node that is restarted begins a new life once in a while; two
/// processes do so several times a second.
#[derive(Debug)]
pub(crate) struct Doubles {
    every: Duration,
    looked: Instant,
    /// The last known life of each agent, and how many looks in succession have found a new one.
    lives: BTreeMap<u32, (Incarnation, u32)>,
    found: BTreeSet<u32>,
}

impl Doubles {
    /// Looks in succession that must find a new life.
    const LOOKS: u32 = 6;

    /// Looks as often as this at most; a new life takes a few ticks to become known.
    pub(crate) fn new(tick: Duration, now: Instant) -> Self {
        let every = Duration::from_millis(500).max(8 * tick);
        Self { every, looked: now, lives: BTreeMap::new(), found: BTreeSet::new() }
    }

    /// Takes in the lives that are known now; says which agents are newly found to be two.
    pub(crate) fn look(&mut self, lives: impl Iterator<Item = (u32, Incarnation)>, now: Instant) -> Vec<u32> {
        if now.duration_since(self.looked) < self.every {
            return Vec::new();
        }
        self.looked = now;
        let mut news = Vec::new();
        for (agent, life) in lives {
            let (known, changes) = self.lives.entry(agent).or_insert((life, 0));
            *changes = if *known == life { 0 } else { *changes + 1 };
            *known = life;
            if *changes >= Self::LOOKS && self.found.insert(agent) {
                news.push(agent);
            }
        }
        news
    }

    /// Agents that were found to be two.
    pub(crate) fn found(&self) -> &BTreeSet<u32> {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_that_change_all_the_time_are_noticed_and_restarts_are_not() {
        let start = Instant::now();
        let mut doubles = Doubles::new(Duration::from_millis(50), start);
        let life = |counter| Incarnation { counter, nonce: 0 };
        let mut found = Vec::new();
        for look in 1..40 {
            // Agent 1 is restarted every two seconds, agent 2 runs twice.
            let lives = [(1, life(look / 4)), (2, life(3 * look))];
            found.extend(doubles.look(lives.into_iter(), start + Duration::from_millis(500) * look as u32));
        }
        assert_eq!(found, [2]);
    }
}
