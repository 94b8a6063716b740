//! What peers pass on of each other: of each subject the newest, what has changed lately first.

use std::collections::BTreeMap;
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
    /// The peer whose rumours these are: each has turns of its own.
    node: u32,
    /// The largest number of values that one message carries.
    most: usize,
    /// The time for which the order was made, and the subjects in this order.
    order: Option<(u64, Vec<S>)>,
}

/// A value, the time at which it last changed, and where its subject stands in the turns.
#[derive(Clone, Copy, Debug)]
struct Rumour<V> {
    value: V,
    changed_at: u64,
    turn: u64,
}

impl<S: Ord + Copy + Hash, V: Copy> Rumours<S, V> {
    /// The largest number of values that are kept: those of all pairs of 64 nodes.
    pub(crate) const KEPT: usize = 4096;

    /// For how long a value that has changed goes first.
    const RECENT: u64 = 64;

    /// How many times more often a recent value is said than another one.
    const PREFERENCE: u64 = 64;

    /// Nothing is known yet to this node; a message carries at most this many values.
    pub(crate) fn new(node: u32, most: usize) -> Self {
        Self { newest: BTreeMap::new(), node, most, order: None }
    }

    /// Takes in a value at a time, if it is `newer` than the one that is known.
    ///
    /// Where too many are known, the one after the new one is forgotten. It returns with later
    /// messages.
    pub(crate) fn add(&mut self, subject: S, value: V, now: u64, newer: impl FnOnce(&V) -> bool) {
        match self.newest.get_mut(&subject) {
            Some(known) if newer(&known.value) => (known.value, known.changed_at) = (value, now),
            Some(_) => {}
            None => {
                let mut turn = XxHash64::with_seed(u64::from(self.node));
                subject.hash(&mut turn);
                self.newest.insert(subject, Rumour { value, changed_at: now, turn: turn.finish() });
                self.forget_one_of_too_many(subject);
            }
        }
    }

    fn forget_one_of_too_many(&mut self, new: S) {
        if self.newest.len() > Self::KEPT {
            let next = self.newest.range((Bound::Excluded(new), Bound::Unbounded)).next();
            let forgotten = next.or(self.newest.first_key_value()).map(|(subject, _)| *subject);
            forgotten.map(|subject| self.newest.remove(&subject));
        }
    }

    /// Forgets all subjects but these.
    pub(crate) fn retain(&mut self, keep: impl Fn(&S) -> bool) {
        self.newest.retain(|subject, _| keep(subject));
    }

    /// The values for a message: first the `own` ones, which concern its receiver, then at most
    /// `others` of the rest.
    pub(crate) fn for_message(&mut self, own: impl RangeBounds<S>, others: usize, now: u64) -> Vec<(S, V)> {
        if self.order.as_ref().is_none_or(|(time, _)| *time != now) {
            self.order = Some((now, self.order_at(now)));
        }
        let known = self.newest.range((own.start_bound(), own.end_bound()));
        let mut chosen: Vec<(S, V)> = known.map(|(subject, rumour)| (*subject, rumour.value)).collect();
        let places = others.min(self.most.saturating_sub(chosen.len()));
        let order = self.order.iter().flat_map(|(_, order)| order).filter(|subject| !own.contains(subject));
        let others = order.filter_map(|subject| Some((*subject, self.newest.get(subject)?.value)));
        chosen.extend(others.take(places));
        chosen
    }

    /// The subjects in the order in which they are said. There are twice as many as a message
    /// carries, because it leaves out those of its receiver, which it says anyway.
    ///
    /// Turns move on by the golden section of their range, so that all come at about equal
    /// intervals, and never stay in phase with a schedule.
    fn order_at(&self, now: u64) -> Vec<S> {
        const GOLDEN_SECTION: u64 = 0x9E37_79B9_7F4A_7C15;
        let moved = now.wrapping_mul(GOLDEN_SECTION);
        let place = |(subject, rumour): (&S, &Rumour<V>)| {
            let recent = now.saturating_sub(rumour.changed_at) < Self::RECENT;
            (rumour.turn.wrapping_add(moved) / if recent { Self::PREFERENCE } else { 1 }, *subject)
        };
        let mut order: Vec<(u64, S)> = self.newest.iter().map(place).collect();
        let wanted = 2 * self.most;
        if order.len() > wanted {
            order.select_nth_unstable(wanted);
            order.truncate(wanted);
        }
        order.sort_unstable();
        order.into_iter().map(|(_, subject)| subject).collect()
    }
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
}
