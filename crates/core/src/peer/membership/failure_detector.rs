//! The failure detector: which members have been silent for too long.

/// The signs of life of all nodes, and the rule by which a silent member counts as dead.
#[derive(Clone, Debug)]
pub(crate) struct FailureDetector {
    nodes: Vec<Liveness>,
    /// Ticks without a sign of life after which a member counts as dead.
    patience: u64,
}

/// What is known of the life of one node, beside its entry in the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Liveness {
    /// The count of its newest heartbeat.
    heartbeat: u64,
    /// Our tick at which we learned of that heartbeat.
    alive_at: u64,
    /// Our round when we last had a sign of life of it, directly or through others.
    heard_in: Option<u64>,
    /// Whether it has announced its departure itself.
    left: bool,
    /// The number of times that it was thought dead and came back.
    returns: u32,
    /// The round until which its state is recent news, which messages carry first.
    news_until: u64,
}

impl FailureDetector {
    /// A detector for this many nodes, with this many ticks of patience.
    pub(crate) fn new(nodes: usize, patience: u64) -> Self {
        Self { nodes: vec![Liveness::default(); nodes], patience }
    }

    /// What is known of the life of a node.
    pub(crate) fn get(&self, node: u32) -> Option<&Liveness> {
        self.nodes.get(node as usize)
    }

    /// Takes in a heartbeat; one that is not newer than the last is no sign of life.
    pub(crate) fn hear(&mut self, node: u32, heartbeat: u64, tick: u64, round: u64) {
        let known = &mut self.nodes[node as usize];
        if known.heartbeat < heartbeat {
            (known.heartbeat, known.alive_at) = (heartbeat, tick);
            known.heard_in = Some(round);
        }
    }

    /// Takes in that a message of the node's present life was accepted in this round.
    pub(crate) fn hear_message(&mut self, node: u32, round: u64) {
        self.nodes[node as usize].heard_in = Some(round);
    }

    /// Takes in that a node has announced its departure.
    pub(crate) fn hear_farewell(&mut self, node: u32) {
        self.nodes[node as usize].left = true;
    }

    /// Starts anew with a node whose state has changed: its next life has nothing in common with
    /// the last one but the number of its returns, which is one more if it `came_back`.
    pub(crate) fn renew(&mut self, node: u32, came_back: bool, tick: u64, news_until: u64) {
        let known = &mut self.nodes[node as usize];
        let returns = known.returns + u32::from(came_back);
        *known = Liveness { alive_at: tick, returns, news_until, ..Liveness::default() };
    }

    /// The members other than `me` that have been silent for too long.
    ///
    /// Who hears of less than half of the members is probably cut off itself, and waits three times
    /// as long. For a member that came back, patience doubles with every return: a false alarm
    /// costs it all its edges, so one that is often slow must not be declared dead again and again.
    pub(crate) fn silent(&self, members: &[u32], me: u32, tick: u64) -> Vec<u32> {
        let silence = |node: u32| tick.saturating_sub(self.nodes[node as usize].alive_at);
        let others = || members.iter().copied().filter(|&node| node != me);
        let heard = others().filter(|&node| silence(node) <= self.patience).count();
        let patience = if 2 * heard < members.len() - 1 { 3 * self.patience } else { self.patience };
        others().filter(|&node| silence(node) > patience << self.nodes[node as usize].returns.min(6)).collect()
    }

    /// Restores what a snapshot holds of a node: its returns. The time of the crash does not count
    /// as silence.
    pub(crate) fn restore(&mut self, node: u32, returns: u32, tick: u64) {
        let known = &mut self.nodes[node as usize];
        (known.returns, known.alive_at) = (returns, tick);
    }
}

impl Liveness {
    /// The count of the newest heartbeat.
    pub(crate) fn heartbeat(&self) -> u64 {
        self.heartbeat
    }

    /// Our round when we last had a sign of life of the node.
    pub(crate) fn heard_in(&self) -> Option<u64> {
        self.heard_in
    }

    /// Whether the node has announced its departure itself.
    pub(crate) fn has_left(&self) -> bool {
        self.left
    }

    /// The number of times that the node came back.
    pub(crate) fn returns(&self) -> u32 {
        self.returns
    }

    /// Whether the node's state has changed only recently.
    pub(crate) fn is_news(&self, round: u64) -> bool {
        round < self.news_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: u64 = 10;
    const MEMBERS: [u32; 4] = [0, 1, 2, 3];

    /// A detector of node 0 that heard of these nodes at tick 100.
    fn detector(heard: &[u32]) -> FailureDetector {
        let mut detector = FailureDetector::new(4, PATIENCE);
        for &node in heard {
            detector.hear(node, 1, 100, 7);
        }
        detector
    }

    #[test]
    fn a_member_is_silent_after_its_patience_has_passed() {
        let detector = detector(&[1, 2, 3]);
        assert!(detector.silent(&MEMBERS, 0, 100 + PATIENCE).is_empty());
        let mut detector = detector;
        detector.hear(1, 2, 105, 8);
        detector.hear(2, 2, 105, 8);
        detector.hear(3, 1, 105, 8);
        assert_eq!(detector.silent(&MEMBERS, 0, 101 + PATIENCE), [3], "a heartbeat that is not new is no sign of life");
        assert_eq!(detector.get(3).and_then(Liveness::heard_in), Some(7));
    }

    #[test]
    fn who_hears_of_few_waits_three_times_as_long() {
        let detector = detector(&[1, 2, 3]);
        assert!(detector.silent(&MEMBERS, 0, 100 + 3 * PATIENCE).is_empty());
        assert_eq!(detector.silent(&MEMBERS, 0, 101 + 3 * PATIENCE), [1, 2, 3]);
    }

    #[test]
    fn patience_doubles_with_every_return() {
        let mut detector = detector(&[1, 2]);
        for _ in 0..3 {
            detector.renew(3, true, 100, 0);
        }
        detector.hear(1, 1000, 1000, 8);
        detector.hear(2, 1000, 1000, 8);
        assert!(detector.silent(&MEMBERS, 0, 100 + 8 * PATIENCE).is_empty());
        assert_eq!(detector.silent(&MEMBERS, 0, 101 + 8 * PATIENCE), [3]);
    }

    #[test]
    fn a_new_life_keeps_only_the_number_of_returns() {
        let mut detector = detector(&[1]);
        detector.hear_farewell(1);
        detector.renew(1, true, 200, 50);
        detector.renew(1, false, 201, 50);
        let liveness = detector.get(1).unwrap();
        assert_eq!((liveness.returns(), liveness.heartbeat(), liveness.heard_in()), (1, 0, None));
        assert!(!liveness.has_left() && liveness.is_news(49) && !liveness.is_news(50));
    }
}
