//! How a peer applies messages at the end of a round: it completes their words, books their mass,
//! and says so in receipts.

use super::exchange::{Reading, Unread};
use super::machine::Peer;
use super::membership::{Carried, Receipt};
use super::policy::SyncMode;
use super::wire::{CHUNK, EncodedChunk, Header, WordLength};
use crate::Scalar;

/// What has come of the messages of a round.
pub(super) struct Applied {
    /// The messages whose words were completed.
    pub(super) messages: Vec<Unread>,
    /// Whether there was more mass than can be booked.
    pub(super) overflow: bool,
}

impl<T: Scalar> Peer<T> {
    /// Applies the messages of a round, ascending by sender. One whose words cannot be completed is
    /// refused as a whole: it counts as lost, and its sender is asked for full words.
    pub(super) fn apply(&mut self, arrived: Vec<Unread>) -> Applied {
        let mut applied = Applied { messages: Vec::with_capacity(arrived.len()), overflow: false };
        // A peer without sources expects no mass.
        let mut fed = self.neighbours.at(self.clock.round()).sources.is_empty();
        for message in arrived {
            if self.config.policy.sync != SyncMode::Free {
                self.merge_receipts(message.receipts.iter().copied());
            }
            let header = message.header;
            let reading = self.read(&message);
            if reading != Reading::Whole {
                self.counters.refused += 1;
                self.counters.wrong_words += u64::from(reading == Reading::Wrong);
                self.membership.note_receipt(header.from, header.incarnation, Carried::Refused, header.sequence);
                continue;
            }
            self.hold(&message);
            // Where nothing is pushed at all, hearing anybody is enough.
            fed |= self.ledger.mass().is_empty() && header.contents.pulled;
            match self.book(&message) {
                Some(more) => fed |= more,
                None => applied.overflow = true,
            }
            if self.is_to_this_life(&header) && !message.is_struck() {
                self.membership.note_receipt(header.from, header.incarnation, message.carried(), header.sequence);
            }
            applied.messages.push(message);
        }
        self.counters.applied += applied.messages.len() as u64;
        self.starvation.count(fed);
        applied
    }

    /// Takes in what others have applied.
    pub(super) fn merge_receipts(&mut self, receipts: impl Iterator<Item = Receipt>) {
        for receipt in receipts {
            if self.membership.learn_receipt(receipt) {
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

    /// Whether all words of a message can be completed.
    fn read(&self, message: &Unread) -> Reading {
        let from = message.header.from;
        let reference = self.exchange.reference(from).filter(|_| self.is_to_this_life(&message.header));
        let pulled = self.format.pulled_chunks().iter().enumerate().map(|(number, chunk)| {
            let words = message.pulled::<T>(&self.format, number).filter(EncodedChunk::needs_completion)?;
            Some(reference.map_or(Reading::NothingHeld, |reference| reference.read(number, chunk, words)))
        });
        let (received, nothing) = (self.ledger.received(from), [0; CHUNK]);
        let pushed = self.format.pushed_chunks().iter().enumerate().map(|(number, chunk)| {
            let words = message.mass(&self.format, number)?;
            let known = received.map_or(&nothing[..chunk.place.len()], |received| &received[chunk.place.clone()]);
            Some(if words.is_completed_by(known) { Reading::Whole } else { Reading::Wrong })
        });
        pulled.chain(pushed).flatten().find(|reading| *reading != Reading::Whole).unwrap_or(Reading::Whole)
    }

    /// Holds the pulled scalars of a message to this life, to complete the words of later ones.
    fn hold(&mut self, message: &Unread) {
        let completes = self.format.length() != WordLength::Full && message.header.contents.pulled;
        if !completes || !self.is_to_this_life(&message.header) {
            return;
        }
        let reference = self.exchange.reference_mut(message.header.from, &self.format);
        for (number, chunk) in self.format.pulled_chunks().iter().enumerate() {
            if let Some(encoded) = message.pulled::<T>(&self.format, number) {
                reference.hold::<T>(number, chunk, encoded, self.config.unit);
            }
        }
    }

    /// Books the mass of a message and returns whether there was any that was not known, or `None`
    /// if there is more than can be booked.
    fn book(&mut self, message: &Unread) -> Option<bool> {
        let from = message.header.from;
        if !message.header.contents.mass {
            return Some(false);
        }
        let mut outcome = Some(false);
        let mut sums = [0; CHUNK];
        for (number, chunk) in self.format.pushed_chunks().iter().enumerate() {
            let Some(encoded) = message.mass(&self.format, number) else { continue };
            let known = &self.ledger.receives(from)[chunk.place.clone()];
            let sums = &mut sums[..known.len()];
            encoded.complete_mass(known, sums);
            let booked = self.ledger.receive(from, chunk.place.clone(), sums);
            outcome = booked.ok().and_then(|more| outcome.map(|before| before | more));
        }
        outcome
    }
}
