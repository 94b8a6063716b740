//! The failure detector: which members have been silent for too long.

use std::collections::BTreeMap;

/// The signs of life of all nodes, and the rule by which a silent member counts as dead.
#[derive(Clone, Debug)]
pub(crate) struct FailureDetector {
    /// The nodes of which there was any sign.
    nodes: BTreeMap<u32, Liveness>,
    /// What is known of the life of all others.
    stranger: Liveness,
    /// Ticks without a sign of life after which a member counts as dead.
    patience: u64,
    /// The first tick in which a member can have been silent for too long.
    due: u64,
    /// Whether others may lie of a member: lives are sealed.
    suspicious: bool,
}

/// What is known of the life of one node, beside its entry in the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Liveness {
    /// The count of its newest heartbeat.
    heartbeat: u64,
    /// Our tick at which we learned of that heartbeat.
    alive_at: u64,
    /// Our tick at which we learned of its state.
    known_since: u64,
    /// Our round when we last had a sign of life of it, directly or through others.
    heard_in: Option<u64>,
    /// Whether it has announced its departure itself.
    left: bool,
    /// The number of times that it was thought dead and came back.
    returns: u32,
}

impl FailureDetector {
    /// Patience with a member that came back doubles at most this many times.
    const DOUBLED_AT_MOST: u32 = 6;

    /// A detector with this many ticks of patience. One that is `suspicious` takes precautions
    /// against members that lie.
    pub(crate) fn new(patience: u64, suspicious: bool) -> Self {
        Self { nodes: BTreeMap::new(), stranger: Liveness::default(), patience, due: 0, suspicious }
    }

    /// What is known of the life of a node.
    pub(crate) fn get(&self, node: u32) -> &Liveness {
        self.nodes.get(&node).unwrap_or(&self.stranger)
    }

    fn get_mut(&mut self, node: u32) -> &mut Liveness {
        self.nodes.entry(node).or_insert_with(|| self.stranger.clone())
    }

    /// Takes in a heartbeat; one that is not newer than the last is no sign of life.
    ///
    /// Where members may lie, one that is ahead of all ticks since the life is known counts as the
    /// largest that can be. Otherwise true ones would be older than it, and no sign of life.
    pub(crate) fn hear(&mut self, node: u32, heartbeat: u64, tick: u64, round: u64) {
        let (suspicious, slack) = (self.suspicious, self.patience / 2);
        let known = self.get_mut(node);
        let most = tick.saturating_sub(known.known_since).saturating_add(slack);
        let heartbeat = if suspicious { heartbeat.min(most) } else { heartbeat };
        if known.heartbeat < heartbeat {
            (known.heartbeat, known.alive_at) = (heartbeat, tick);
            known.heard_in = Some(round);
        }
    }

    /// Takes in that a message of the node's present life was accepted in this round.
    pub(crate) fn hear_message(&mut self, node: u32, round: u64) {
        self.get_mut(node).heard_in = Some(round);
    }

    /// Takes in that a node has announced its departure.
    pub(crate) fn hear_farewell(&mut self, node: u32) {
        self.get_mut(node).left = true;
    }

    /// Starts anew with a node whose state has changed: its next life has nothing in common with
    /// the last one but the number of its returns, which is one more if it `came_back`.
    pub(crate) fn renew(&mut self, node: u32, came_back: bool, tick: u64) {
        let returns = self.get(node).returns + u32::from(came_back);
        self.nodes.insert(node, Liveness { alive_at: tick, known_since: tick, returns, ..Liveness::default() });
        self.due = self.due.min(tick + 1);
    }

    /// Whether the word of others that a node is dead does not count yet: it came back a short
    /// while ago. What is short doubles with every return, as patience does, so that nobody can
    /// take the same member for dead again and again. Who is really dead stays so.
    pub(crate) fn spares(&self, node: u32, tick: u64) -> bool {
        let known = self.get(node);
        let spared = (self.patience / 2) << known.returns.min(Self::DOUBLED_AT_MOST);
        known.returns > 0 && tick.saturating_sub(known.known_since) < spared
    }

    /// The members other than `me` that have been silent for too long.
    ///
    /// Who hears of less than half of the members is probably cut off itself, and waits three times
    /// as long. For a member that came back, patience doubles with every return: a false alarm
    /// costs it all its edges, so one that is often slow must not be declared dead again and again.
    pub(crate) fn silent(&mut self, members: &[u32], me: u32, tick: u64) -> Vec<u32> {
        if tick < self.due {
            return Vec::new();
        }
        let silence = |node: u32| tick.saturating_sub(self.get(node).alive_at);
        let others = || members.iter().copied().filter(|&node| node != me);
        let longest = others().map(silence).max().unwrap_or(0);
        let heard = others().filter(|&node| silence(node) <= self.patience).count();
        let patience = if 2 * heard < members.len() - 1 { 3 * self.patience } else { self.patience };
        let silent = others()
            .filter(|&node| silence(node) > patience << self.get(node).returns.min(Self::DOUBLED_AT_MOST))
            .collect();
        // Whoever is not heard from now on has been silent for too long no earlier than this.
        self.due = tick + self.patience.saturating_sub(longest) + 1;
        silent
    }

    /// Restores what a snapshot holds: the returns of nodes. The time of the crash is no silence.
    pub(crate) fn restore(&mut self, returns: impl Iterator<Item = (u32, u32)>, tick: u64) {
        (self.stranger.alive_at, self.stranger.known_since) = (tick, tick);
        let restored = returns.map(|(node, returns)| (node, Liveness { returns, ..self.stranger.clone() }));
        self.nodes = restored.collect();
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: u64 = 10;
    const MEMBERS: [u32; 4] = [0, 1, 2, 3];

    /// A detector of node 0 that heard of these nodes at tick 100.
    fn detector(heard: &[u32]) -> FailureDetector {
        let mut detector = FailureDetector::new(PATIENCE, false);
        for &node in heard {
            detector.hear(node, 1, 100, 7);
        }
        detector
    }

    #[test]
    fn a_member_is_silent_after_its_patience_has_passed() {
        let mut detector = detector(&[1, 2, 3]);
        assert!(detector.silent(&MEMBERS, 0, 100 + PATIENCE).is_empty());
        detector.hear(1, 2, 105, 8);
        detector.hear(2, 2, 105, 8);
        detector.hear(3, 1, 105, 8);
        assert_eq!(detector.silent(&MEMBERS, 0, 101 + PATIENCE), [3], "a heartbeat that is not new is no sign of life");
        assert_eq!(detector.get(3).heard_in(), Some(7));
    }

    #[test]
    fn who_hears_of_few_waits_three_times_as_long() {
        let mut detector = detector(&[1, 2, 3]);
        assert!(detector.silent(&MEMBERS, 0, 100 + 3 * PATIENCE).is_empty());
        assert_eq!(detector.silent(&MEMBERS, 0, 101 + 3 * PATIENCE), [1, 2, 3]);
    }

    #[test]
    fn patience_doubles_with_every_return() {
        let mut detector = detector(&[1, 2]);
        for _ in 0..3 {
            detector.renew(3, true, 100);
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
        detector.renew(1, true, 200);
        detector.renew(1, false, 201);
        let liveness = detector.get(1);
        assert_eq!((liveness.returns(), liveness.heartbeat(), liveness.heard_in()), (1, 0, None));
        assert!(!liveness.has_left());
    }

    /// Whoever is looked for at every tick is found at the same tick as by looking at all of them.
    #[test]
    fn nobody_is_looked_for_later_than_in_every_tick() {
        let mut rng = crate::rng::Stream::new(3, 0, 0, crate::rng::Purpose::Lives);
        let mut detector = detector(&[1, 2, 3]);
        for tick in 101..600 {
            if rng.below(12) == 0 {
                detector.hear(1 + rng.below(3) as u32, tick, tick, 8);
            } else if rng.below(40) == 0 {
                detector.renew(1 + rng.below(3) as u32, true, tick);
            }
            let mut patient = FailureDetector { due: 0, ..detector.clone() };
            assert_eq!(detector.silent(&MEMBERS, 0, tick), patient.silent(&MEMBERS, 0, tick), "tick {tick}");
        }
    }
}
