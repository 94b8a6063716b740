//! Members that are behind when a node has done its rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use super::attendance::PeerView;

/// Follows how far others get once this node has done its rounds.
///
/// Whoever leaves takes its data along. Members that are far behind, because they were started
/// again for example, would go on to the solution of those that remain.
#[derive(Debug, Default)]
pub(crate) struct Laggards {
    /// The round in which each agent is that has not done its rounds, and when it got there.
    reached: BTreeMap<u32, (u64, Duration)>,
}

impl Laggards {
    /// When one of these agents that is behind last got further; none if nobody is behind. Agents
    /// that count as dead, or were never heard from themselves, are not waited for.
    pub(crate) fn last_progress(
        &mut self,
        agents: impl Iterator<Item = u32>,
        peers: &[&dyn PeerView],
        rounds: u64,
        now: Duration,
    ) -> Option<Duration> {
        let is_behind = |&(agent, round): &(u32, u64)| {
            (1..rounds).contains(&round) && !peers.iter().any(|peer| peer.counts_as_dead(agent))
        };
        let round_of = |agent: u32| peers.iter().map(|peer| peer.round_of(agent)).max().unwrap_or(0);
        let behind = agents.map(|agent| (agent, round_of(agent))).filter(is_behind);
        let times = behind.map(|(agent, round)| {
            let reached = self.reached.entry(agent).or_insert((round, now));
            if reached.0 != round {
                *reached = (round, now);
            }
            reached.1
        });
        times.max()
    }
}

#[cfg(test)]
mod tests {
    use super::super::attendance_tests::FakePeer;
    use super::*;

    fn second(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    /// The last progress of agents 1 and 2 in a run of a hundred rounds, as one peer sees it.
    fn last_progress(laggards: &mut Laggards, rounds: [(u32, u64); 2], dead: &[u32], now: u64) -> Option<Duration> {
        let peer = FakePeer::far(rounds, dead);
        laggards.last_progress([1, 2].into_iter(), &[&peer], 100, second(now))
    }

    #[test]
    fn progress_counts_until_the_rounds_are_done() {
        let mut laggards = Laggards::default();
        assert_eq!(last_progress(&mut laggards, [(1, 40), (2, 100)], &[], 1), Some(second(1)));
        assert_eq!(last_progress(&mut laggards, [(1, 41), (2, 100)], &[], 2), Some(second(2)));
        assert_eq!(last_progress(&mut laggards, [(1, 41), (2, 100)], &[], 9), Some(second(2)), "it stands still");
        assert_eq!(last_progress(&mut laggards, [(1, 100), (2, 100)], &[], 10), None);
    }

    #[test]
    fn a_later_life_that_begins_anew_is_waited_for() {
        let mut laggards = Laggards::default();
        last_progress(&mut laggards, [(1, 90), (2, 100)], &[], 1);
        assert_eq!(last_progress(&mut laggards, [(1, 5), (2, 100)], &[], 4), Some(second(4)));
    }

    #[test]
    fn the_dead_and_those_that_were_never_heard_are_not_waited_for() {
        let mut laggards = Laggards::default();
        assert_eq!(last_progress(&mut laggards, [(1, 40), (2, 0)], &[1], 1), None);
    }
}
