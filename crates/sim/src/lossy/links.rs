//! Links with message loss, delay and duplicates, round by round.

use std::collections::{BTreeMap, BTreeSet};

use fabnet_core::rng::{Purpose, Stream};

/// How unreliable the links of an experiment are, and how often its agents act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFaults {
    /// The probability that a message is lost.
    pub loss: f64,
    /// The largest delay of a message, in rounds; delays are uniform from 0 to this.
    pub delay: u64,
    /// The probability that a message arrives twice.
    pub duplicate: f64,
    /// The probability that an agent acts in a round; in the others it only receives.
    pub activity: f64,
    /// How many agents are slow: the first ones.
    pub stragglers: usize,
    /// A slow agent acts in one of this many rounds.
    pub slowness: u64,
    /// Whether the others wait for slow agents and act in the same rounds as these.
    pub lockstep: bool,
}

impl Default for LinkFaults {
    /// Perfect links, and agents that act in every round.
    fn default() -> Self {
        Self { loss: 0.0, delay: 0, duplicate: 0.0, activity: 1.0, stragglers: 0, slowness: 1, lockstep: false }
    }
}

/// The links between all agents, with the messages that are in flight.
#[derive(Clone, Debug)]
pub(super) struct LossyLinks<M> {
    faults: LinkFaults,
    seed: u64,
    /// The agents that are cut off: what they send or are sent is lost.
    cut_off: BTreeSet<usize>,
    /// The round in which each agent sent last, and the random numbers of that round.
    streams: BTreeMap<usize, (u64, Stream)>,
    /// Messages in the order in which they were sent.
    in_flight: Vec<InFlight<M>>,
}

/// A message that has been sent and not yet received.
#[derive(Clone, Debug)]
struct InFlight<M> {
    /// The round by whose end it arrives.
    arrival: u64,
    to: usize,
    message: M,
}

impl<M: Clone> LossyLinks<M> {
    /// Links without any message in flight.
    pub(super) fn new(faults: LinkFaults, seed: u64) -> Self {
        Self { faults, seed, cut_off: BTreeSet::new(), streams: BTreeMap::new(), in_flight: Vec::new() }
    }

    /// Cuts an agent off from all others, or joins it to them again.
    pub(super) fn cut_off(&mut self, agent: usize, cut: bool) {
        if cut {
            self.cut_off.insert(agent);
        } else {
            self.cut_off.remove(&agent);
        }
    }

    /// Sends the messages of one agent in one round, each to the agent that stands beside it.
    pub(super) fn send(&mut self, round: u64, from: usize, messages: impl Iterator<Item = (usize, M)>) {
        // One stream per sender and round: what happens to a message does not depend on the order
        // in which agents are simulated. Where an agent sends several times in a round, its stream
        // goes on, so that these messages do not share their fate.
        let begin = || (round, Stream::new(self.seed, from, round, Purpose::Faults));
        let last = self.streams.entry(from).or_insert_with(begin);
        if last.0 != round {
            *last = begin();
        }
        let stream = &mut last.1;
        for (to, message) in messages {
            let lost = stream.open01() < self.faults.loss;
            if lost || self.cut_off.contains(&from) || self.cut_off.contains(&to) {
                continue;
            }
            let copies = if stream.open01() < self.faults.duplicate { 2 } else { 1 };
            for _ in 0..copies {
                let delay = stream.below(self.faults.delay as usize + 1) as u64;
                self.in_flight.push(InFlight { arrival: round + delay, to, message: message.clone() });
            }
        }
    }

    /// Removes and returns the messages that have arrived by the end of a round, with their
    /// receivers, in the order in which they were sent.
    pub(super) fn arrivals(&mut self, round: u64) -> Vec<(usize, M)> {
        let arrived = self.in_flight.extract_if(.., |flight| flight.arrival <= round);
        arrived.map(|flight| (flight.to, flight.message)).collect()
    }

    /// Whether an agent acts in a round.
    pub(super) fn acts(&self, agent: usize, round: u64) -> bool {
        let LinkFaults { activity, stragglers, slowness, lockstep, .. } = self.faults;
        let is_slow = agent < stragglers || lockstep && stragglers > 0;
        if is_slow && !round.is_multiple_of(slowness) {
            return false;
        }
        activity >= 1.0 || Stream::new(self.seed, agent, round, Purpose::Activity).open01() < activity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: usize = 4000;

    /// Links over which agent 0 has sent numbered messages to agent 1 in round 10.
    fn after_sending(faults: LinkFaults) -> LossyLinks<usize> {
        let mut links = LossyLinks::new(faults, 5);
        links.send(10, 0, (0..MESSAGES).map(|number| (1, number)));
        links
    }

    #[test]
    fn perfect_links_deliver_everything_once_in_order_and_in_the_same_round() {
        let mut links = after_sending(LinkFaults::default());
        assert!(links.arrivals(9).is_empty());
        assert!(links.arrivals(10).into_iter().eq((0..MESSAGES).map(|number| (1, number))));
        assert!(links.arrivals(u64::MAX).is_empty(), "a message arrives only once");
    }

    #[test]
    fn the_configured_fraction_is_lost_or_duplicated() {
        let arrived = |faults| after_sending(faults).arrivals(10).len() as f64 / MESSAGES as f64;
        let lost = arrived(LinkFaults { loss: 0.25, ..LinkFaults::default() });
        let doubled = arrived(LinkFaults { duplicate: 0.25, ..LinkFaults::default() });
        assert!((lost - 0.75).abs() < 0.03, "{lost} of all messages arrived");
        assert!((doubled - 1.25).abs() < 0.03, "{doubled} copies arrived for each message");
    }

    #[test]
    fn delays_are_uniform_up_to_the_largest() {
        let mut links = after_sending(LinkFaults { delay: 3, ..LinkFaults::default() });
        for round in 10..=13 {
            let part = links.arrivals(round).len() as f64 / MESSAGES as f64;
            assert!((part - 0.25).abs() < 0.03, "{part} of all messages arrived in round {round}");
        }
        assert!(links.in_flight.is_empty());
    }

    #[test]
    fn agents_act_as_often_as_configured_and_the_same_way_each_time() {
        let links = LossyLinks::<()>::new(LinkFaults { activity: 0.3, ..LinkFaults::default() }, 5);
        let acting: Vec<bool> = (0..4000).map(|round| links.acts(2, round)).collect();
        let part = acting.iter().filter(|acts| **acts).count() as f64 / 4000.0;
        assert!((part - 0.3).abs() < 0.03, "acted in {part} of all rounds");
        assert!((0..4000).map(|round| links.acts(2, round)).eq(acting));
        assert!(LossyLinks::<()>::new(LinkFaults::default(), 5).acts(2, 0));
    }

    #[test]
    fn stragglers_act_in_one_of_as_many_rounds_as_they_are_slow() {
        let faults = LinkFaults { stragglers: 2, slowness: 10, ..LinkFaults::default() };
        let links = LossyLinks::<()>::new(faults, 5);
        let acted = |agent| (0..1000).filter(|&round| links.acts(agent, round)).count();
        assert_eq!([0, 1, 2, 3].map(acted), [100, 100, 1000, 1000]);
    }

    #[test]
    fn in_lockstep_nobody_acts_without_the_stragglers() {
        let rounds = |stragglers| {
            let faults = LinkFaults { stragglers, slowness: 10, lockstep: true, ..LinkFaults::default() };
            let links = LossyLinks::<()>::new(faults, 5);
            [0, 9].map(|agent| (0..100).filter(|&round| links.acts(agent, round)).count())
        };
        assert_eq!([rounds(1), rounds(0)], [[10, 10], [100, 100]]);
    }

    #[test]
    fn an_agent_that_is_cut_off_neither_sends_nor_receives() {
        let mut links = LossyLinks::new(LinkFaults::default(), 5);
        let send = |links: &mut LossyLinks<usize>| {
            for from in 0..3 {
                links.send(10, from, (0..3).map(|to| (to, from)));
            }
            links.arrivals(10).len()
        };
        links.cut_off(1, true);
        assert_eq!(send(&mut links), 4);
        links.cut_off(1, false);
        assert_eq!(send(&mut links), 9);
    }

    #[test]
    fn messages_of_one_round_do_not_share_their_fate() {
        let mut links = LossyLinks::new(LinkFaults { loss: 0.5, ..LinkFaults::default() }, 5);
        (0..MESSAGES).for_each(|number| links.send(10, 0, std::iter::once((1, number))));
        assert!(links.arrivals(10) == after_sending(links.faults).arrivals(10), "as if they were sent at once");
    }

    #[test]
    fn senders_and_rounds_have_faults_of_their_own() {
        let faults = LinkFaults { loss: 0.5, ..LinkFaults::default() };
        let received = |round, from| {
            let mut links = LossyLinks::new(faults, 5);
            links.send(round, from, (0..100).map(|number| (1, number)));
            links.arrivals(round)
        };
        assert_ne!(received(10, 0), received(10, 2));
        assert_ne!(received(10, 0), received(11, 0));
    }
}
