//! What peers pass on of each other: of each subject the newest, what has changed lately first.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::ops::{Bound, RangeBounds};

use twox_hash::XxHash64;

/// The newest value of each subject, as one peer knows it. Messages carry a few of them.
///
/// What has changed lately goes first. Otherwise values that nobody waits for any more, say of
/// edges that are not used again, would take up the places of those that are needed, and on a long
/// way every peer adds its wait.
///
/// What is said at a time follows from what is known alone, not from how often messages are
/// repeated: peers in lockstep then say the same in every run.
#[derive(Clone, Debug)]
pub(crate) struct Rumours<S, V> {
    newest: BTreeMap<S, Rumour<V>>,
    /// The turns of what has changed lately, and those of the rest.
    recent: BTreeMap<u64, S>,
    settled: BTreeMap<u64, S>,
    /// What has changed lately, in the order of its times.
    changes: VecDeque<(u64, S)>,
    /// The peer whose rumours these are: each has turns of its own.
    node: u32,
    /// The largest number of values that one message carries.
    most: usize,
}

/// A value, the time at which it last changed, and where its subject stands in the turns.
#[derive(Clone, Copy, Debug)]
struct Rumour<V> {
    value: V,
    changed_at: u64,
    turn: u64,
}

impl<S: Ord + Copy + Hash, V: Copy> Rumours<S, V> {
    /// The largest number of values that are kept: those of all pairs of 32 nodes.
    pub(crate) const KEPT: usize = 1024;

    /// The largest number of changes that are noted: more than there are times of all values in
    /// [`Self::RECENT`]. Whoever makes subjects up can cause more.
    const NOTED: usize = 16 * Self::KEPT;

    /// For how long a value that has changed goes first.
    const RECENT: u64 = 64;

    /// Times are told apart by this much, so that what changes all the time is noted now and then.
    const SLOT: u64 = 8;

    /// How many times more often a recent value is said than another one.
    const PREFERENCE: u64 = 64;

    /// Nothing is known yet to this node; a message carries at most this many values.
    pub(crate) fn new(node: u32, most: usize) -> Self {
        Self {
            newest: BTreeMap::new(),
            recent: BTreeMap::new(),
            settled: BTreeMap::new(),
            changes: VecDeque::new(),
            node,
            most,
        }
    }

    /// Takes in a value at a time, if it is `newer` than the one that is known.
    ///
    /// Where too many are known, the one after the new one is forgotten. It returns with later
    /// messages.
    pub(crate) fn add(&mut self, subject: S, value: V, now: u64, newer: impl FnOnce(&V) -> bool) {
        let now = now - now % Self::SLOT;
        if let Some(known) = self.newest.get_mut(&subject) {
            if newer(&known.value) {
                known.value = value;
                if known.changed_at != now {
                    known.changed_at = now;
                    note(&mut self.changes, Self::NOTED, (now, subject));
                    if let Some(subject) = self.settled.remove(&known.turn) {
                        self.recent.insert(known.turn, subject);
                    }
                }
            }
            return;
        }
        let turn = self.free_turn(subject);
        self.newest.insert(subject, Rumour { value, changed_at: now, turn });
        note(&mut self.changes, Self::NOTED, (now, subject));
        self.recent.insert(turn, subject);
        self.forget_one_of_too_many(subject);
    }

    /// The number of values and of noted changes that are kept.
    pub(crate) fn len(&self) -> usize {
        self.newest.len() + self.changes.len()
    }

    /// Where a new subject stands in the turns.
    fn free_turn(&self, subject: S) -> u64 {
        let mut hash = XxHash64::with_seed(u64::from(self.node));
        subject.hash(&mut hash);
        let mut turn = hash.finish();
        while self.recent.contains_key(&turn) || self.settled.contains_key(&turn) {
            turn = turn.wrapping_add(1);
        }
        turn
    }

    fn forget_one_of_too_many(&mut self, new: S) {
        if self.newest.len() > Self::KEPT {
            let next = self.newest.range((Bound::Excluded(new), Bound::Unbounded)).next();
            let forgotten = next.or(self.newest.first_key_value()).map(|(subject, _)| *subject);
            if let Some(rumour) = forgotten.and_then(|subject| self.newest.remove(&subject)) {
                self.recent.remove(&rumour.turn);
                self.settled.remove(&rumour.turn);
            }
        }
    }

    /// Forgets all subjects but these.
    pub(crate) fn retain(&mut self, keep: impl Fn(&S) -> bool) {
        self.newest.retain(|subject, _| keep(subject));
        self.recent.retain(|_, subject| keep(subject));
        self.settled.retain(|_, subject| keep(subject));
    }

    /// What has not changed lately goes to the rest.
    fn settle(&mut self, now: u64) {
        let is_past = |(changed_at, _): &(u64, S)| now.saturating_sub(*changed_at) >= Self::RECENT;
        let past = self.changes.iter().take_while(|change| is_past(change)).count();
        for (_, subject) in self.changes.drain(..past) {
            let is_settled = |known: &&Rumour<V>| now.saturating_sub(known.changed_at) >= Self::RECENT;
            if let Some(known) = self.newest.get(&subject).filter(is_settled) {
                self.recent.remove(&known.turn);
                self.settled.insert(known.turn, subject);
            }
        }
    }

    /// The values for a message: first the `own` ones, which concern its receiver, then at most
    /// `others` of the rest.
    pub(crate) fn for_message(&mut self, own: impl RangeBounds<S>, others: usize, now: u64) -> Vec<(S, V)> {
        self.settle(now);
        let known = self.newest.range((own.start_bound(), own.end_bound()));
        let mut chosen: Vec<(S, V)> = known.map(|(subject, rumour)| (*subject, rumour.value)).collect();
        let places = others.min(self.most.saturating_sub(chosen.len()));
        let order = self.order_at(now).filter(|subject| !own.contains(subject));
        let others = order.filter_map(|subject| Some((subject, self.newest.get(&subject)?.value)));
        chosen.extend(others.take(places));
        chosen
    }

    /// The subjects in the order in which they are said.
    ///
    /// Turns move on by the golden section of their range, so that all come at about equal
    /// intervals, and never stay in phase with a schedule.
    fn order_at(&self, now: u64) -> impl Iterator<Item = S> {
        const GOLDEN_SECTION: u64 = 0x9E37_79B9_7F4A_7C15;
        let moved = now.wrapping_mul(GOLDEN_SECTION);
        let mut recent = places(&self.recent, moved, Self::PREFERENCE).peekable();
        let mut settled = places(&self.settled, moved, 1).peekable();
        std::iter::from_fn(move || {
            let place_of = |next: Option<&(u64, S)>| next.map_or(u64::MAX, |(place, _)| *place);
            let is_recent = recent.peek().is_some() && place_of(recent.peek()) <= place_of(settled.peek());
            if is_recent { recent.next() } else { settled.next() }.map(|(_, subject)| subject)
        })
    }
}

/// Notes a change, in the place of the first one where too many are noted: that subject then goes
/// first for longer.
fn note<S>(changes: &mut VecDeque<(u64, S)>, most: usize, change: (u64, S)) {
    if changes.len() == most {
        changes.pop_front();
    }
    changes.push_back(change);
}

/// The subjects with these turns, which have moved on by so much, and their places in the order.
fn places<S: Copy>(turns: &BTreeMap<u64, S>, moved: u64, preference: u64) -> impl Iterator<Item = (u64, S)> {
    let first = moved.wrapping_neg();
    let order = turns.range(first..).chain(turns.range(..first));
    order.map(move |(turn, subject)| (turn.wrapping_add(moved) / preference, *subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 8;

    fn known(subjects: u32) -> Rumours<u32, u64> {
        let mut rumours = Rumours::new(3, MOST);
        (0..subjects).for_each(|subject| rumours.add(subject, 1, 0, |_| true));
        rumours
    }

    fn subjects(rumours: &mut Rumours<u32, u64>, own: std::ops::Range<u32>, now: u64) -> Vec<u32> {
        rumours.for_message(own, MOST, now).into_iter().map(|(subject, _)| subject).collect()
    }

    #[test]
    fn the_newest_counts() {
        let mut rumours = known(1);
        rumours.add(0, 5, 1, |known| *known < 5);
        rumours.add(0, 3, 2, |known| *known < 3);
        assert_eq!(rumours.for_message(0..1, MOST, 3), [(0, 5)]);
        rumours.retain(|subject| *subject != 0);
        assert!(subjects(&mut rumours, 0..1, 4).is_empty());
    }

    #[test]
    fn a_message_has_its_receivers_first_and_all_others_in_turn() {
        let mut rumours = known(40);
        let mut seen = std::collections::BTreeSet::new();
        for now in 100..120 {
            let chosen = subjects(&mut rumours, 17..19, now);
            assert_eq!((chosen.len(), &chosen[..2]), (MOST, &[17, 18][..]));
            seen.extend(chosen);
        }
        assert_eq!(seen.len(), 40);
    }

    #[test]
    fn values_that_change_do_not_wait_for_those_that_do_not() {
        // All pairs of 16 nodes, of which those of a ring are in use.
        let mut rumours = known(256);
        let mut said = [0; 16];
        for now in 1..1000 {
            (0..16).for_each(|subject| rumours.add(16 * subject, now, now, |_| true));
            let chosen = subjects(&mut rumours, 0..0, now);
            for subject in chosen.into_iter().filter(|subject| subject % 16 == 0 && now >= 900) {
                said[subject as usize / 16] += 1;
            }
        }
        assert!(
            said.iter().all(|&said| said >= 20),
            "a hundred messages have room for 50 of each, 3 with equal turns: {said:?}"
        );
    }

    #[test]
    fn no_value_is_out_of_step_with_a_schedule() {
        // With turns of a whole length, 8 of 16 values would be said at even times only.
        let mut rumours = known(16);
        let mut at_even_times = std::collections::BTreeSet::new();
        for now in 100..160 {
            (0..16).for_each(|subject| rumours.add(subject, now, now, |_| true));
            let chosen = subjects(&mut rumours, 0..0, now);
            at_even_times.extend(chosen.into_iter().filter(|_| now % 2 == 0));
        }
        assert_eq!(at_even_times.len(), 16);
    }

    #[test]
    fn what_is_said_does_not_depend_on_what_was_said() {
        let (mut quiet, mut busy) = (known(40), known(40));
        (0..50).for_each(|now| drop(subjects(&mut busy, 3..4, now)));
        assert_eq!(subjects(&mut quiet, 0..1, 50), subjects(&mut busy, 0..1, 50));
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        assert_eq!(known(10_000).newest.len(), Rumours::<u32, u64>::KEPT);
    }

    /// Whoever makes subjects up all the time takes no more memory than that.
    #[test]
    fn what_is_noted_is_bounded() {
        let mut rumours = Rumours::<u32, u64>::new(3, MOST);
        (0..100_000).for_each(|subject| rumours.add(subject, 1, 0, |_| true));
        assert!(rumours.len() <= 17 * Rumours::<u32, u64>::KEPT, "{} are kept", rumours.len());
        assert_eq!(subjects(&mut rumours, 0..0, 1000).len(), MOST);
    }

    /// Whatever was added and forgotten, the order is that of all places, sorted.
    #[test]
    fn the_order_is_that_of_all_places() {
        let mut stream = crate::rng::Stream::new(5, 0, 0, crate::rng::Purpose::Table);
        let mut rumours = Rumours::<u32, u64>::new(3, MOST);
        for now in 0..600 {
            for _ in 0..stream.below(4) {
                rumours.add(stream.below(90) as u32, now, now, |_| true);
            }
            if stream.below(50) == 0 {
                let kept = stream.below(5) as u32;
                rumours.retain(|subject| subject % 5 != kept);
            }
            let moved = now.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let place = |(subject, rumour): (&u32, &Rumour<u64>)| {
                let recent = now - rumour.changed_at < 64;
                let turn = rumour.turn.wrapping_add(moved);
                (turn / if recent { 64 } else { 1 }, !recent, turn, *subject)
            };
            let mut places: Vec<(u64, bool, u64, u32)> = rumours.newest.iter().map(place).collect();
            places.sort_unstable();
            let first = places.into_iter().map(|(.., subject)| subject).take(MOST);
            assert!(first.eq(subjects(&mut rumours, 0..0, now)), "time {now}");
        }
    }
}
