//! How a peer applies messages at the end of a round: it completes their words, books their mass,
//! and says so in receipts.

use super::exchange::{Reading, Unread};
use super::machine::Peer;
use super::membership::{Carried, Receipt};
use super::policy::SyncMode;
use super::pull::Pull;
use super::wire::{CHUNK, Header, WordLength};
use crate::{Mask, Scalar};

/// What has come of the mass of a message.
#[derive(Clone, Copy, Debug)]
struct Booked {
    reading: Reading,
    /// Whether there was any that was not known.
    more: bool,
    /// Whether there was more than can be booked.
    overflow: bool,
}

impl<T: Scalar> Peer<T> {
    /// Applies the messages of a round, ascending by sender, and returns whether there was more
    /// mass than can be booked. A chunk whose words cannot be completed is left out, as if it had
    /// been lost, and the sender of its message is asked for full words.
    pub(super) fn apply(&mut self, arrived: &[Unread], mask: Mask) -> bool {
        if self.config.policy.sync != SyncMode::Free {
            self.merge_receipts(arrived.iter().flat_map(|message| message.receipts.iter().copied()));
        }
        let booked = self.book(arrived);
        let pulled = self.mix(arrived, mask);
        // A peer without sources expects no mass. Where nothing is pushed at all, hearing anybody
        // is enough.
        let alone = self.neighbours.at(self.clock.round()).sources.is_empty();
        let hears =
            |(message, reading): (&Unread, &Reading)| message.header.contents.pulled && *reading == Reading::Whole;
        let heard = self.ledger.mass().is_empty() && arrived.iter().zip(&pulled).any(hears);
        self.starvation.count(alone || heard || booked.iter().any(|booked| booked.more));
        for ((message, booked), pulled) in arrived.iter().zip(&booked).zip(pulled) {
            self.note(message, booked.reading.and(pulled));
        }
        booked.iter().any(|booked| booked.overflow)
    }

    /// Counts a message and says in a receipt what came of it.
    fn note(&mut self, message: &Unread, reading: Reading) {
        let (header, round) = (&message.header, self.clock.round());
        let whole = reading == Reading::Whole;
        self.counters.applied += u64::from(whole);
        self.counters.refused += u64::from(!whole);
        self.counters.wrong_words += u64::from(reading == Reading::Wrong);
        if !whole {
            self.membership.note_receipt(header.from, header.incarnation, Carried::Refused, header.sequence, round);
        } else if self.is_to_this_life(header) && !message.is_struck() {
            self.membership.note_receipt(header.from, header.incarnation, message.carried(), header.sequence, round);
        }
    }

    /// Takes in what others have applied.
    pub(super) fn merge_receipts(&mut self, receipts: impl Iterator<Item = Receipt>) {
        let round = self.clock.round();
        for receipt in receipts {
            // A receipt of what was never sent would stand above all that come.
            let possible = !self.membership.is_sealed() || receipt.sequence <= self.exchange.sequence();
            if self.membership.learn_receipt(receipt, round) && possible {
                self.exchange.apply(receipt.by, receipt.carried, receipt.sequence, &self.format);
            }
        }
    }

    /// Whether a receipt of our own present life is for a message that we have not applied: our
    /// disk has forgotten it, and its sender would never send that mass again.
    pub(super) fn has_forgotten_receipt(&self, receipt: &Receipt) -> bool {
        self.membership.is_own_receipt(receipt) && self.exchange.inbox(receipt.from).applied() < receipt.sequence
    }

    /// Whether a message was sent to this peer's present life. Its words build on what that life
    /// has applied, so a late message to an earlier one must not take the place of what is held.
    pub(super) fn is_to_this_life(&self, header: &Header) -> bool {
        header.to_incarnation == self.membership.incarnation()
    }

    /// Mixes the scalars of messages into the next row, holds them to complete later ones, and
    /// returns what came of each message.
    pub(super) fn mix(&mut self, arrived: &[Unread], mask: Mask) -> Vec<Reading> {
        let completes = self.format.length() != WordLength::Full;
        let is_held =
            |message: &&Unread| completes && message.header.contents.pulled && self.is_to_this_life(&message.header);
        let senders: Vec<u32> = arrived.iter().filter(is_held).map(|message| message.header.from).collect();
        let (round, sync) = (self.clock.round(), self.config.policy.sync);
        let references = self.exchange.references(&senders, &self.format);
        let mut pull = Pull::new(&self.format, (self.neighbours.at(round), sync, mask), arrived);
        pull.complete_from(senders.into_iter().zip(references));
        self.local.mix(&mut pull);
        pull.readings()
    }

    /// Books the mass of messages, chunk by chunk.
    fn book(&mut self, arrived: &[Unread]) -> Vec<Booked> {
        let mut outcomes = vec![Booked { reading: Reading::Whole, more: false, overflow: false }; arrived.len()];
        let (mut sums, nothing) = ([0; CHUNK], [0; CHUNK]);
        for (number, chunk) in self.format.pushed_chunks().iter().enumerate() {
            let (sums, nothing) = (&mut sums[..chunk.place.len()], &nothing[..chunk.place.len()]);
            for (message, outcome) in arrived.iter().zip(&mut outcomes) {
                let Some(encoded) = message.mass(&self.format, number) else { continue };
                let from = message.header.from;
                let known = self.ledger.received(from).map_or(nothing, |received| &received[chunk.place.clone()]);
                if !encoded.complete(known, sums) {
                    outcome.reading = Reading::Wrong;
                    continue;
                }
                match self.ledger.receive(from, chunk.place.clone(), sums) {
                    Ok(more) => outcome.more |= more,
                    Err(_) => outcome.overflow = true,
                }
            }
        }
        outcomes
    }
}
