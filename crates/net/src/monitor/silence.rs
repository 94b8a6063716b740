//! Which neighbours ought to be heard, and are not.

use std::collections::BTreeMap;
use std::time::Duration;

/// Watches the sources of a node's agents. Zenoh can lose one direction between two nodes for good
/// while both count as connected, and says nothing (eclipse-zenoh/zenoh#2806): only silence shows
/// it.
#[derive(Debug)]
pub(crate) struct SilenceDetector {
    /// How often each agent was expected since it was last heard.
    missed: BTreeMap<u32, u32>,
    /// The time before which there is no alarm.
    quiet_until: Duration,
    /// The time without alarms after the next connection.
    pause: Duration,
}

impl SilenceDetector {
    /// An agent that was expected more often than this in vain is an alarm: at two checks in a
    /// second, after ten seconds.
    const ALARM: u32 = 20;
    /// The pause after the first new connection, and the longest one. It doubles in between,
    /// because silence may have other reasons than the connection.
    const PAUSES: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(600));

    pub(crate) fn new(now: Duration) -> Self {
        Self { missed: BTreeMap::new(), quiet_until: now, pause: Self::PAUSES.0 }
    }

    /// Notes that an agent of another node was heard.
    pub(crate) fn heard(&mut self, agent: u32) {
        self.missed.remove(&agent);
    }

    /// Notes that these agents are expected to be heard; returns those that were silent for too
    /// long.
    pub(crate) fn check(&mut self, sources: impl Iterator<Item = u32>, now: Duration) -> Vec<u32> {
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

    /// Notes that there is a new connection, which gets some time to show whether it helps.
    pub(crate) fn reconnected(&mut self, now: Duration) {
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
        let mut silence = SilenceDetector::new(Duration::ZERO);
        for check in 0..100 {
            let silent = silence.check([3, 5].into_iter(), Duration::ZERO);
            let expected: &[u32] = if check < SilenceDetector::ALARM { &[] } else { &[5] };
            assert_eq!(silent, expected, "check {check}");
            silence.heard(3);
        }
    }

    #[test]
    fn alarms_become_rarer() {
        let mut silence = SilenceDetector::new(Duration::ZERO);
        let mut alarms = Vec::new();
        for half_seconds in 0..7200 {
            let now = Duration::from_millis(500 * half_seconds);
            if !silence.check(std::iter::once(1), now).is_empty() {
                alarms.push(half_seconds / 2);
                silence.reconnected(now);
            }
        }
        assert_eq!(alarms[..4], [10, 30, 70, 150], "{alarms:?}");
        assert!(alarms.len() < 12, "{alarms:?}");
    }
}
