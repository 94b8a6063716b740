//! The messages of one node that wait for the end of a round.

use std::ops::Range;

use crate::Scalar;
use crate::peer::membership::{Carried, Receipt};
use crate::peer::policy::SyncMode;
use crate::peer::wire::{Body, Contents, EncodedChunk, Header, WireFormat, scalars};

/// The messages of one node that wait, and how far it has been heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    /// Messages in the order of their rounds; at most one in a free-running peer.
    unread: Vec<Unread>,
    /// Whether a message of the node's present life has come.
    heard: bool,
    /// The latest round in which the node was, as far as its messages say.
    round: u64,
    /// The newest message whose scalars or mass were used.
    applied: u64,
    /// Our round in which that was.
    applied_in: u64,
    /// Rounds in a row that had to do without a message of the node.
    missed: u32,
}

/// A message that waits. It is kept as it came and read at the end of the round.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    /// The header, in which the receiver may have struck out the mass.
    pub(crate) header: Header,
    /// The receipts that it brings.
    pub(crate) receipts: Vec<Receipt>,
    bytes: Vec<u8>,
    body: Body,
}

impl Unread {
    /// A message with this header, these receipts, and scalars and mass at these places in its
    /// bytes.
    pub(crate) fn new(header: Header, receipts: Vec<Receipt>, body: Body, bytes: Vec<u8>) -> Self {
        Self { header, receipts, bytes, body }
    }

    /// The scalars of the largest segment that has this place in a row.
    pub(crate) fn largest<T: Scalar>(&self, format: &WireFormat, row: &Range<usize>) -> impl Iterator<Item = T> {
        let before = format.largest(self.header.mask).take_while(|range| range.start < row.start);
        let start = self.body.largest.start + before.map(|range| range.len()).sum::<usize>() * T::BYTES;
        scalars(&self.bytes[start..start + row.len() * T::BYTES])
    }

    /// A pulled chunk, by its number, if the message carries it.
    pub(crate) fn pulled<T: Scalar>(&self, format: &WireFormat, number: usize) -> Option<EncodedChunk<'_>> {
        let place = self.body.pulled.get(number)?.clone();
        let scalars = format.pulled_chunks()[number].place.len();
        Some(EncodedChunk::read(&self.bytes[place], scalars, T::BYTES)?.0)
    }

    /// A chunk of mass, by its number, if the message carries it.
    pub(crate) fn mass(&self, format: &WireFormat, number: usize) -> Option<EncodedChunk<'_>> {
        let place = self.body.mass.get(number).filter(|_| self.header.contents.mass)?.clone();
        let units = format.pushed_chunks()[number].place.len();
        Some(EncodedChunk::read(&self.bytes[place], units, size_of::<i64>())?.0)
    }

    /// Whether the receiver has struck out the mass.
    pub(crate) fn is_struck(&self) -> bool {
        !self.header.contents.mass && !self.body.mass.is_empty()
    }

    /// What the message carries, as receipts name it.
    pub(crate) fn carried(&self) -> Carried {
        let Contents { pulled, mass, .. } = self.header.contents;
        Carried::Parts { mask: self.header.mask.bits(), pulled, mass }
    }
}

impl Inbox {
    /// The largest number of messages that wait in lockstep, where senders can be ahead.
    pub(crate) const WINDOW: usize = 16;
    /// Rounds without a message after which nobody waits for the node, until it is heard again.
    const LARGEST_MISSED: u32 = 3;

    /// The number of messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.unread.len()
    }

    /// The latest round in which the node was, as far as its messages say.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// The newest message whose scalars or mass were used.
    pub(crate) fn applied(&self) -> u64 {
        self.applied
    }

    /// Our round in which scalars or mass of the node were last used.
    pub(crate) fn applied_in(&self) -> u64 {
        self.applied_in
    }

    /// Whether a round in lockstep waits for the node.
    pub(crate) fn is_awaited(&self) -> bool {
        self.missed < Self::LARGEST_MISSED
    }

    /// Whether a round lacks a message that may still come. A node that is in a later round will
    /// not come back to this one: its message belonged to an earlier epoch.
    pub(crate) fn lacks(&self, round: u64) -> bool {
        let has_it = self.unread.last().is_some_and(|message| message.header.round >= round);
        !has_it && self.round <= round
    }

    /// Takes in that a message of the node's present life has come, from this round.
    pub(crate) fn hear(&mut self, round: u64) {
        (self.heard, self.missed) = (true, 0);
        self.round = self.round.max(round);
    }

    /// Whether a message of the node's present life has come.
    pub(crate) fn is_heard(&self) -> bool {
        self.heard
    }

    /// Whether a newer message than this one was used already.
    pub(crate) fn is_outdated(&self, sequence: u64) -> bool {
        sequence <= self.applied
    }

    /// Keeps a message until the end of a round.
    pub(crate) fn keep(&mut self, message: Unread, sync: SyncMode) {
        match sync {
            SyncMode::Free => self.keep_newest(message),
            SyncMode::Lockstep { .. } => self.keep_by_round(message),
        }
    }

    /// Keeps the newest message only: cumulative sums say all that earlier ones said.
    fn keep_newest(&mut self, message: Unread) {
        if self.unread.first().is_none_or(|other| other.header.sequence < message.header.sequence) {
            self.unread.clear();
            self.unread.push(message);
        }
    }

    /// Keeps one message for each round, up to the size of the window.
    fn keep_by_round(&mut self, message: Unread) {
        let place = self.unread.partition_point(|other| other.header.round < message.header.round);
        let same = self.unread.get(place).is_some_and(|other| other.header.round == message.header.round);
        if !same && self.unread.len() < Self::WINDOW {
            self.unread.insert(place, message);
            return;
        }
        // The last of the window stands for all later rounds: its sums include theirs.
        let other = &mut self.unread[place.min(Self::WINDOW - 1)];
        if other.header.sequence < message.header.sequence {
            *other = message;
        }
    }

    /// Takes the message that a round is to use out of the inbox, and notes that it is used.
    /// Messages of another epoch are dropped.
    pub(crate) fn take(&mut self, round: u64, epoch: u64, sync: SyncMode, awaited: bool) -> Option<Unread> {
        let message = match sync {
            SyncMode::Free => self.unread.pop(),
            SyncMode::Lockstep { .. } => self.take_for(round, awaited),
        };
        // An older message than one that was applied would be completed from numbers that its
        // sender had not sent yet.
        let message =
            message.filter(|message| message.header.epoch == epoch && message.header.sequence >= self.applied)?;
        (self.applied, self.applied_in) = (self.applied.max(message.header.sequence), round);
        Some(message)
    }

    /// The message for a round: that of the round itself; else, of a node that was awaited, that of
    /// the next round; else the last one before. Earlier ones are dropped.
    fn take_for(&mut self, round: u64, awaited: bool) -> Option<Unread> {
        let place = self.unread.partition_point(|message| message.header.round < round);
        let later = self.unread.get(place);
        if later.is_some_and(|message| message.header.round == round) {
            return self.unread.drain(..=place).next_back();
        }
        // A message that is ahead counts now, and changes nothing when its own round comes.
        let ahead = later.filter(|_| awaited).cloned();
        let before = self.unread.drain(..place).next_back();
        ahead.or(before)
    }

    /// Takes in that a round had to do without a message of the node.
    pub(crate) fn miss(&mut self) {
        self.missed += 1;
    }

    /// Drops messages of earlier epochs.
    pub(crate) fn drop_epochs_before(&mut self, epoch: u64) {
        self.unread.retain(|message| message.header.epoch >= epoch);
    }

    /// Drops messages of earlier generations.
    pub(crate) fn drop_generations_before(&mut self, generation: u64) {
        self.unread.retain(|message| message.header.generation >= generation);
    }

    /// Drops all messages.
    pub(crate) fn clear(&mut self) {
        self.unread.clear();
    }

    /// Restores what a snapshot holds.
    pub(crate) fn restore(&mut self, applied: u64) {
        self.applied = applied;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mask;
    use crate::peer::membership::Incarnation;

    const LOCKSTEP: SyncMode = SyncMode::Lockstep { deadline: 5 };

    fn message(round: u64, sequence: u64, epoch: u64) -> Unread {
        let header = Header {
            from: 1,
            to: 0,
            incarnation: Incarnation::default(),
            to_incarnation: Incarnation::default(),
            epoch,
            round,
            sequence,
            generation: 0,
            held: 0,
            beat: 0,
            digest: 0,
            mask: Mask::ALL,
            contents: Contents::default(),
        };
        Unread::new(header, Vec::new(), Body::default(), Vec::new())
    }

    fn inbox(sync: SyncMode, messages: &[(u64, u64)]) -> Inbox {
        let mut inbox = Inbox::default();
        for &(round, sequence) in messages {
            inbox.keep(message(round, sequence, 0), sync);
        }
        inbox
    }

    fn rounds(inbox: &Inbox) -> Vec<u64> {
        inbox.unread.iter().map(|message| message.header.round).collect()
    }

    #[test]
    fn a_free_peer_keeps_the_newest_message_only() {
        let mut inbox = inbox(SyncMode::Free, &[(4, 7), (3, 9), (5, 8)]);
        assert_eq!(inbox.take(6, 0, SyncMode::Free, true).map(|message| message.header.sequence), Some(9));
        assert!(inbox.is_outdated(9) && !inbox.is_outdated(10) && inbox.len() == 0);
    }

    #[test]
    fn lockstep_takes_the_message_of_the_round_then_the_next_then_the_last() {
        let take = |messages: &[(u64, u64)], awaited| {
            let mut inbox = inbox(LOCKSTEP, messages);
            let taken = inbox.take(5, 0, LOCKSTEP, awaited).map(|message| message.header.round);
            (taken, rounds(&inbox))
        };
        assert_eq!(take(&[(4, 1), (5, 2), (6, 3)], true), (Some(5), vec![6]));
        assert_eq!(take(&[(4, 1), (6, 3)], true), (Some(6), vec![6]), "what is ahead waits for its own round, too");
        assert_eq!(take(&[(3, 0), (4, 1), (6, 3)], false), (Some(4), vec![6]), "nobody waited for it");
        assert_eq!(take(&[(6, 3)], false), (None, vec![6]));
    }

    #[test]
    fn messages_of_another_epoch_are_not_used() {
        let mut inbox = Inbox::default();
        inbox.keep(message(0, 1, 3), SyncMode::Free);
        assert!(inbox.take(0, 4, SyncMode::Free, true).is_none() && !inbox.is_outdated(1));
        inbox.keep(message(0, 1, 3), SyncMode::Free);
        inbox.drop_epochs_before(4);
        assert_eq!(inbox.len(), 0);
    }

    #[test]
    fn nobody_waits_for_a_node_that_has_missed_three_rounds() {
        let mut inbox = Inbox::default();
        (0..3).for_each(|_| {
            assert!(inbox.is_awaited());
            inbox.miss();
        });
        assert!(!inbox.is_awaited());
        inbox.hear(4);
        assert!(inbox.is_awaited());
        assert!(inbox.lacks(4) && !inbox.lacks(3), "it will not come back to round 3");
    }

    proptest! {
        /// Whatever comes, the window is bounded and in order, and the newest message is in it.
        #[test]
        fn the_window_is_bounded_and_keeps_the_newest(messages in prop::collection::vec((0..40u64, 0..200u64), 1..80)) {
            let inbox = inbox(LOCKSTEP, &messages);
            prop_assert!(inbox.len() <= Inbox::WINDOW && rounds(&inbox).is_sorted());
            let last_round = messages.iter().map(|(round, _)| *round).max().unwrap_or_default();
            prop_assert!(!inbox.lacks(last_round.min(*rounds(&inbox).last().unwrap())));
        }
    }
}
