//! Which neighbours ought to be heard, and are not.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Watches the sources of a node's agents. The engine can lose one direction between two nodes for good while both count as connected, and says nothing (eclipse-zenoh/zenoh#2806): only silence shows it.
#[derive(Debug)]
pub(crate) struct Silence {
    /// How often an agent was looked for since it was last heard.
    missed: BTreeMap<u32, u32>,
    /// No alarm before.
    quiet_until: Instant,
    /// How long the next alarm keeps others away.
    pause: Duration,
}

impl Silence {
    /// Looks in vain that are an alarm: at two in a second, ten seconds.
    const ALARM: u32 = 20;
    /// A new connection is given this long at first, and ever longer: silence may have other reasons.
    const PAUSES: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(600));

    pub(crate) fn new(now: Instant) -> Self {
        Self { missed: BTreeMap::new(), quiet_until: now, pause: Self::PAUSES.0 }
    }

    /// An agent of another node was heard.
    pub(crate) fn heard(&mut self, agent: u32) {
        self.missed.remove(&agent);
    }

    /// These are to be heard about now. Who of them has been silent for too long?
    pub(crate) fn look(&mut self, sources: impl Iterator<Item = u32>, now: Instant) -> Vec<u32> {
        let mut silent = Vec::new();
        for agent in sources {
            let missed = self.missed.entry(agent).or_default();
            *missed += 1;
            if *missed > Self::ALARM && now >= self.quiet_until {
                silent.push(agent);
            }
        }
        silent
    }

    /// Something is done about it: time to see whether it helps.
    pub(crate) fn begin_again(&mut self, now: Instant) {
        self.missed.clear();
        self.quiet_until = now + self.pause;
        self.pause = (2 * self.pause).min(Self::PAUSES.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_silent_is_noticed_and_who_is_heard_is_not() {
        let start = Instant::now();
        let mut silence = Silence::new(start);
        for look in 0..100 {
            let silent = silence.look([3, 5].into_iter(), start);
            let expected: &[u32] = if look < Silence::ALARM { &[] } else { &[5] };
            assert_eq!(silent, expected, "look {look}");
            silence.heard(3);
        }
    }

    #[test]
    fn alarms_become_rarer() {
        let start = Instant::now();
        let mut silence = Silence::new(start);
        let mut alarms = Vec::new();
        for half_seconds in 0..7200 {
            let now = start + Duration::from_millis(500 * half_seconds);
            if !silence.look(std::iter::once(1), now).is_empty() {
                alarms.push(half_seconds / 2);
                silence.begin_again(now);
            }
        }
        assert_eq!(alarms[..4], [10, 30, 70, 150], "{alarms:?}");
        assert!(alarms.len() < 12, "{alarms:?}");
    }
}
