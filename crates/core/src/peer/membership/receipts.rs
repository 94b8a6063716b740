//! Receipts that peers spread by gossip: who has applied what of whom.

use super::gossip::{Carried, RECEIPTS_PER_MESSAGE, Receipt};
use super::rumours::Rumours;

/// The newest receipts, as one peer knows them.
#[derive(Clone, Debug)]
pub(crate) struct Receipts {
    /// (by, from, carried) → (low tags of the lives of `by` and `from`, sequence).
    newest: Rumours<(u32, u32, Carried), (u32, u32, u64)>,
}

impl Receipts {
    /// The smallest number of receipts in a message, beside those of its receiver.
    const FEWEST: usize = 8;

    /// The bytes of scalars and mass for which a message carries one more receipt: 2 % of them.
    const BYTES_PER_RECEIPT: usize = 1600;

    /// Nothing is known yet to this node.
    pub(crate) fn new(node: u32) -> Self {
        Self { newest: Rumours::new(node, RECEIPTS_PER_MESSAGE) }
    }

    /// Takes in a receipt in a round. One of other lives replaces what was known; within the same
    /// lives the newest counts.
    pub(crate) fn add(&mut self, receipt: Receipt, round: u64) {
        let Receipt { by, by_life, from, life, carried, sequence } = receipt;
        self.newest.add((by, from, carried), (by_life, life, sequence), round, |known| {
            (known.0, known.1) != (by_life, life) || known.2 < sequence
        });
    }

    /// The number of receipts that are kept.
    pub(crate) fn len(&self) -> usize {
        self.newest.len()
    }

    /// Forgets what a node has applied, and what was applied of it: its life is over.
    pub(crate) fn forget(&mut self, node: u32) {
        self.newest.retain(|(by, from, _)| *by != node && *from != node);
    }

    /// Some receipts for a message of a round with this many bytes of scalars and mass: first those
    /// of the receiver's own messages to `me`.
    pub(crate) fn for_message(&mut self, me: u32, to: u32, round: u64, bytes: usize) -> Vec<Receipt> {
        let receipt =
            |((by, from, carried), (by_life, life, sequence))| Receipt { by, by_life, from, life, carried, sequence };
        let own = (me, to, Carried::FIRST)..=(me, to, Carried::LAST);
        let others = Self::FEWEST + bytes / Self::BYTES_PER_RECEIPT;
        self.newest.for_message(own, others, round).into_iter().map(receipt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(by: u32, from: u32, life: u32, sequence: u64) -> Receipt {
        let carried = Carried::Parts { mask: 1, pulled: true, mass: true };
        Receipt { by, by_life: 0, from, life, carried, sequence }
    }

    /// What a message to a node says.
    fn said(receipts: &mut Receipts, to: u32, bytes: usize) -> Vec<Receipt> {
        receipts.for_message(0, to, 3, bytes)
    }

    #[test]
    fn the_newest_of_the_present_life_counts() {
        let mut receipts = Receipts::new(0);
        for (life, sequence) in [(1, 5), (1, 3), (2, 1)] {
            receipts.add(receipt(0, 1, life, sequence), 0);
            assert_eq!(said(&mut receipts, 1, 0), [receipt(0, 1, life, if life == 1 { 5 } else { 1 })]);
        }
        receipts.forget(1);
        assert!(said(&mut receipts, 1, 0).is_empty());
    }

    #[test]
    fn a_message_has_all_of_its_receiver_and_more_others_the_longer_it_is() {
        let all = || {
            let mut receipts = Receipts::new(0);
            (0..400).for_each(|from| receipts.add(receipt(0, from, 0, 1), 0));
            let refused = Receipt { carried: Carried::Refused, ..receipt(0, 17, 0, 2) };
            receipts.add(refused, 0);
            receipts
        };
        let short = said(&mut all(), 17, 0);
        assert_eq!((short.len(), short[0].from, short[1].from), (2 + Receipts::FEWEST, 17, 17));
        assert_eq!(said(&mut all(), 17, 160_000).len(), 2 + Receipts::FEWEST + 100);
        assert_eq!(said(&mut all(), 17, usize::MAX).len(), RECEIPTS_PER_MESSAGE);
    }
}
