//! Receipts that peers spread by gossip: who has applied what of whom.

use std::collections::{BTreeMap, BTreeSet};

use super::gossip::{Carried, RECEIPTS_PER_MESSAGE, Receipt};
use crate::rng::Stream;

/// The newest receipts, as one peer knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    /// (by, from, carried) → (low tags of the lives of `by` and `from`, sequence).
    newest: BTreeMap<(u32, u32, Carried), (u32, u32, u64)>,
}

impl Receipts {
    /// The largest number of receipts that are kept: those of all pairs of 64 nodes.
    const KEPT: usize = 4096;

    /// The smallest number of receipts in a message, beside those of its receiver.
    const FEWEST: usize = 8;

    /// The bytes of scalars and mass for which a message carries one more receipt: 2 % of them.
    const BYTES_PER_RECEIPT: usize = 1600;

    /// Takes in a receipt. One of other lives replaces what was known; within the same lives the
    /// newest counts.
    ///
    /// Where too many are known, the one after the new one is forgotten. It returns with later
    /// messages.
    pub(crate) fn add(&mut self, receipt: Receipt) {
        let Receipt { by, by_life, from, life, carried, sequence } = receipt;
        let key = (by, from, carried);
        let known = self.newest.entry(key).or_insert((by_life, life, 0));
        if (known.0, known.1) != (by_life, life) || known.2 < sequence {
            *known = (by_life, life, sequence);
        }
        if self.newest.len() > Self::KEPT {
            let after = (std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded);
            let next = self.newest.range(after).next().or(self.newest.first_key_value());
            let forgotten = next.map(|(key, _)| *key);
            forgotten.map(|key| self.newest.remove(&key));
        }
    }

    /// Forgets what a node has applied, and what was applied of it: its life is over.
    pub(crate) fn forget(&mut self, node: u32) {
        self.newest.retain(|(by, from, _), _| *by != node && *from != node);
    }

    /// Some receipts for a message with this many bytes of scalars and mass: first those of the
    /// receiver's own messages to `me`, then others in turn.
    ///
    /// Whose turn it is follows from the stream of (peer, round) alone: peers in lockstep then say
    /// the same in every run, however often they repeat themselves. It is random, because a receipt
    /// that came by a turn would wait a whole turn at every peer on its way.
    pub(crate) fn for_message(&self, me: u32, to: u32, mut stream: Stream, bytes: usize) -> Vec<Receipt> {
        let receipt = |(&(by, from, carried), &(by_life, life, sequence)): (&(u32, u32, Carried), &(u32, u32, u64))| {
            Receipt { by, by_life, from, life, carried, sequence }
        };
        let is_own = |(by, from, _): &(u32, u32, Carried)| (*by, *from) == (me, to);
        let mut chosen: Vec<_> = self.newest.iter().filter(|(key, _)| is_own(key)).map(receipt).collect();
        let others = self.newest.len() - chosen.len();
        let turn = Self::FEWEST + bytes / Self::BYTES_PER_RECEIPT;
        let turn = turn.min(others).min(RECEIPTS_PER_MESSAGE.saturating_sub(chosen.len()));
        let places = draw(turn, others, &mut stream);
        let rest = self.newest.iter().filter(|(key, _)| !is_own(key)).enumerate();
        chosen.extend(rest.filter(|(place, _)| places.contains(place)).map(|(_, other)| receipt(other)));
        chosen
    }
}

/// Some of this many places, all choices being equally likely. Each draw adds one place: of those
/// up to a last one, or the last itself if that one is taken (Floyd).
fn draw(wanted: usize, places: usize, stream: &mut Stream) -> BTreeSet<usize> {
    let mut drawn = BTreeSet::new();
    for last in places - wanted..places {
        let place = stream.below(last + 1);
        drawn.insert(if drawn.contains(&place) { last } else { place });
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn receipt(by: u32, from: u32, life: u32, sequence: u64) -> Receipt {
        let carried = Carried::Parts { mask: 1, pulled: true, mass: true };
        Receipt { by, by_life: 0, from, life, carried, sequence }
    }

    fn stream(round: u64) -> Stream {
        Stream::new(1, 2, round, Purpose::Receipts)
    }

    #[test]
    fn the_newest_of_the_present_life_counts() {
        let mut receipts = Receipts::default();
        for (life, sequence) in [(1, 5), (1, 3), (2, 1)] {
            receipts.add(receipt(0, 1, life, sequence));
            let known = receipts.for_message(0, 1, stream(0), 0);
            assert_eq!(known, [receipt(0, 1, life, if life == 1 { 5 } else { 1 })]);
        }
        receipts.forget(1);
        assert!(receipts.for_message(0, 1, stream(0), 0).is_empty());
    }

    #[test]
    fn a_message_has_its_receivers_first_and_all_others_in_turn() {
        let mut receipts = Receipts::default();
        (0..40).for_each(|from| receipts.add(receipt(50, from, 0, 1)));
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..40 {
            let chosen = receipts.for_message(50, 17, stream(round), 0);
            assert_eq!((chosen.len(), chosen[0].from), (1 + Receipts::FEWEST, 17));
            assert_eq!(chosen, receipts.for_message(50, 17, stream(round), 0), "the same again in the same round");
            seen.extend(chosen.iter().map(|receipt| receipt.from));
        }
        assert_eq!(seen.len(), 40);
        assert_eq!(receipts.for_message(50, 17, stream(0), 1 << 20).len(), 40, "long messages carry more");
    }

    #[test]
    fn the_number_of_receipts_is_bounded() {
        let mut receipts = Receipts::default();
        (0..2 * Receipts::KEPT as u32).for_each(|node| receipts.add(receipt(node / 100, node % 100, 0, 1)));
        assert_eq!(receipts.newest.len(), Receipts::KEPT);
        assert!(receipts.for_message(0, 1, stream(3), usize::MAX / 2).len() <= RECEIPTS_PER_MESSAGE);
    }
}
