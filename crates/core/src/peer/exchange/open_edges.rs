//! Edges over which mass may be missing at the other end, and nodes that wait for an answer.

use super::traffic::Exchange;
use super::unapplied::Unapplied;

impl Exchange {
    /// Whether all mass that went over the edge to a node is known to be applied.
    pub(super) fn is_settled(&self, target: u32) -> bool {
        self.unapplied.get(&target).is_some_and(Unapplied::is_settled)
    }

    /// The node among these, which are not `used` in this round and may not have applied all mass,
    /// whose edge has been without mass for longest: what was lost there would otherwise never be
    /// sent again.
    ///
    /// The longest idle edge, not one after the other: turns can stay in phase with the schedule,
    /// and some edges would then never have theirs. It must not have been sent mass after round
    /// `until`.
    pub(crate) fn longest_idle(&self, targets: impl Iterator<Item = u32>, used: &[u32], until: u64) -> Option<u32> {
        let idle = targets.filter(|target| !used.contains(target) && !self.is_settled(*target));
        let longest = idle.min_by_key(|&target| self.edge(target).mass_sent())?;
        (self.edge(longest).mass_sent_in() <= until).then_some(longest)
    }

    /// The node that has waited longest for a message of ours since we have used one of its own,
    /// which it does not know yet, unless others have passed it on. Only nodes that `count` are
    /// looked at.
    pub(crate) fn longest_waiting(&self, count: impl Fn(u32) -> bool) -> Option<u32> {
        let waits = |&(node, used_in): &(u32, u64)| used_in >= self.edge(node).sent_in() && count(node);
        let waiting = self.used_in().filter(waits).map(|(node, _)| node);
        waiting.min_by_key(|&node| self.edge(node).sent_in())
    }

    /// The nodes among these that have not acknowledged anything for more than this many ticks.
    pub(crate) fn unanswered(
        &self,
        targets: impl Iterator<Item = u32>,
        tick: u64,
        patience: u64,
    ) -> impl Iterator<Item = u32> {
        targets.filter(move |&target| self.edge(target).unanswered(tick) > patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::clock::Moment;

    fn at(tick: u64) -> Moment {
        Moment { round: 0, tick }
    }

    #[test]
    fn the_longest_idle_edge_is_sent_again() {
        let mut exchange = Exchange::new(5);
        for target in [3, 1, 2, 4] {
            exchange.send(target, at(0), true);
        }
        assert_eq!(exchange.longest_idle([1, 2, 3].into_iter(), &[3], 0), Some(1));
        exchange.send(1, at(0), true);
        assert_eq!(exchange.longest_idle([1, 2, 3].into_iter(), &[3], 0), Some(2));
        assert_eq!(exchange.longest_idle([3].into_iter(), &[3], 0), None);
        exchange.send(2, Moment { round: 7, tick: 0 }, true);
        assert_eq!(exchange.longest_idle([2].into_iter(), &[], 6), None, "its receipt may be on its way");
        assert_eq!(exchange.longest_idle([2].into_iter(), &[], 7), Some(2));
    }

    #[test]
    fn edges_without_an_answer_are_found() {
        let mut exchange = Exchange::new(3);
        exchange.send(1, at(10), true);
        exchange.send(2, at(10), true);
        exchange.acknowledge(2, 2);
        exchange.acknowledge(9, 2);
        let unanswered = |tick| exchange.unanswered(1..3, tick, 5).collect::<Vec<_>>();
        assert_eq!((unanswered(15), unanswered(16)), (vec![], vec![1]));
        assert!(exchange.is_heard_by([2].into_iter()) && !exchange.is_heard_by(1..3));
    }
}
