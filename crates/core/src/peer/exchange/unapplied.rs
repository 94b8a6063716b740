//! What the other end of an edge may not have applied yet: how far it can be from what is sent
//! next.
//!
//! Words stand for a number only near what the receiver holds. It holds what the newest message
//! says that it has applied; which one that is, only receipts tell. So for each chunk a sender adds
//! up by how much any of its scalars has changed, and keeps this sum for each message that it
//! sends: all change since the message of the last receipt is a bound, whatever was lost after it.

use std::collections::VecDeque;

use crate::Mask;
use crate::peer::membership::Carried;
use crate::peer::movements::Movement;
use crate::peer::wire::{Chunk, WordKind, WordLength};

/// The changes on our edge to a node that are not known to be applied there.
#[derive(Clone, Debug)]
pub(crate) struct Unapplied {
    /// Messages with scalars or mass after that of the last receipt, oldest first.
    sent: VecDeque<SentScalars>,
    /// What the node holds of each pulled chunk, at least; `None` if that is not known.
    pulled: Vec<Option<PulledBase>>,
    /// What the node holds of each pushed chunk.
    pushed: Vec<PushedChunk>,
    /// Refusals of messages up to this one have had their effect.
    since: u64,
}

/// A message with scalars or mass.
#[derive(Clone, Debug)]
struct SentScalars {
    sequence: u64,
    carried: Carried,
    /// Of each pulled chunk that it carried, what the node holds when it has applied the message.
    pulled: Vec<Option<PulledBase>>,
    /// The sum of changes of each pushed chunk.
    given: Vec<u128>,
}

/// What a node holds of a pulled chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PulledBase {
    /// The sum of the row's movements when it was sent, in units.
    pub(crate) moved: u128,
    /// The shift with which it was sent: it was rounded by at most 2ˢ.
    pub(crate) shift: u32,
}

/// What went over the edge in one pushed chunk.
#[derive(Clone, Copy, Debug)]
struct PushedChunk {
    /// The sum of the largest changes of all shares, in units.
    given: u128,
    /// This sum in the last share that is known to be applied; `None` if nothing is known.
    applied: Option<u128>,
}

impl Unapplied {
    /// The largest number of messages that are kept; of more, every second one is forgotten, which
    /// makes bounds wider, never wrong.
    const KEPT: usize = 16;

    /// An edge over which nothing went yet, with this many pulled and pushed chunks, after the
    /// message with this number: both ends know that all sums are 0.
    pub(crate) fn new(pulled: usize, pushed: usize, since: u64) -> Self {
        let nothing = PushedChunk { given: 0, applied: Some(0) };
        Self { sent: VecDeque::new(), pulled: vec![None; pulled], pushed: vec![nothing; pushed], since }
    }

    /// An edge of which nothing is known: the sender has forgotten what it sent.
    pub(crate) fn unknown(pulled: usize, pushed: usize, since: u64) -> Self {
        let mut edge = Self::new(pulled, pushed, since);
        edge.pushed.iter_mut().for_each(|chunk| chunk.applied = None);
        edge
    }

    /// The words for a pulled chunk with this movement and with scalars of this many bytes in full;
    /// `None` asks for full ones.
    ///
    /// They are fine beside what has changed since the node last got the chunk, and beside what has
    /// changed lately: over an edge that was not used for long, words that are coarse beside all of
    /// its change would throw agents that have arrived at the solution away from it.
    pub(crate) fn pulled_words(
        &self,
        (number, chunk): (usize, &Chunk),
        movement: Movement,
        length: WordLength,
        scalar: usize,
    ) -> Option<WordKind> {
        let base = (*self.pulled.get(number)?)?;
        // A later message that carried the chunk may have been applied as well, more coarsely.
        let later = self.sent.iter().filter_map(|sent| sent.pulled.get(number).copied().flatten());
        let shift = later.fold(base.shift, |shift, later| shift.max(later.shift));
        let change = self.moved_since_last(number, movement.total).min(movement.lately);
        let bound = movement.total - base.moved + (1 << shift);
        chunk.words(length, scalar, Some(bound), |shift| WordKind::is_fine(shift, change))
    }

    /// The movement of a pulled chunk since the last message that carried it, in units.
    fn moved_since_last(&self, chunk: usize, moved: u128) -> u64 {
        let last = self.sent.iter().rev().find_map(|sent| sent.pulled.get(chunk).copied().flatten());
        let since = last.or(self.pulled[chunk]).map_or(0, |base| base.moved);
        u64::try_from(moved - since).unwrap_or(u64::MAX)
    }

    /// The words for the sums of a pushed chunk to which a share is added, of which no scalar is
    /// larger than this number of units; `None` asks for full ones.
    pub(crate) fn share_words(
        &self,
        (number, chunk): (usize, &Chunk),
        share: u64,
        length: WordLength,
    ) -> Option<WordKind> {
        let bound = self.pushed_bound(number).map(|bound| bound + u128::from(share));
        chunk.words(length, size_of::<i64>(), bound, |shift| WordKind::is_fine(shift, share))
    }

    /// The words for the sums of a pushed chunk to which nothing is added; `None` asks for full
    /// ones.
    pub(crate) fn repeated_words(
        &self,
        (number, chunk): (usize, &Chunk),
        sums: &[i64],
        length: WordLength,
    ) -> Option<WordKind> {
        let zeros = sums.iter().fold(0, |bits, sum| bits | sum).trailing_zeros();
        chunk.words(length, size_of::<i64>(), self.pushed_bound(number), |shift| shift <= zeros)
    }

    /// The largest difference between the sums of a pushed chunk and what the node may hold of
    /// them.
    fn pushed_bound(&self, chunk: usize) -> Option<u128> {
        let PushedChunk { given, applied } = self.pushed[chunk];
        Some(given - applied?)
    }

    /// Notes a share by which no sum has changed by more than this number of units.
    pub(crate) fn give(&mut self, chunk: usize, largest: u64) {
        self.pushed[chunk].given += u128::from(largest);
    }

    /// Whether all mass that went over the edge is known to be applied.
    pub(crate) fn is_settled(&self) -> bool {
        self.pushed.iter().all(|chunk| chunk.applied == Some(chunk.given))
    }

    /// Notes a message. `pulled` is what the node holds of each pulled chunk when it has applied
    /// it: `None` for a chunk with scalars that have no units.
    pub(crate) fn send(&mut self, sequence: u64, carried: Carried, chunks: &[Chunk], pulled: Vec<Option<PulledBase>>) {
        let Carried::Parts { mask, .. } = carried else { return };
        // The node may hold such a chunk from now on, from which no words can be completed.
        let lost = |chunk: usize| chunks[chunk].is_in(Mask::from_bits(mask)) && pulled[chunk].is_none();
        for chunk in (0..pulled.len()).filter(|&chunk| lost(chunk)) {
            self.pulled[chunk] = None;
            let earlier = self.sent.iter_mut().filter_map(|sent| sent.pulled.get_mut(chunk));
            earlier.for_each(|base| *base = None);
        }
        let given: Vec<u128> = self.pushed.iter().map(|chunk| chunk.given).collect();
        // A message that says the same again has the same receipt.
        let is_repeated = |sent: &SentScalars| (sent.carried, &sent.pulled, &sent.given) == (carried, &pulled, &given);
        if self.sent.back().is_some_and(is_repeated) {
            return;
        }
        self.sent.push_back(SentScalars { sequence, carried, pulled, given });
        if self.sent.len() > Self::KEPT {
            let mut place = 0;
            self.sent.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    /// Takes in that the node has applied a message that carried these parts.
    pub(crate) fn apply(&mut self, carried: Carried, sequence: u64, pushed: &[Chunk]) {
        let Carried::Parts { mask, mass, .. } = carried else { return self.refuse(sequence) };
        // Of those with the same parts, a later one includes what an earlier one said.
        let place = self.sent.iter().rposition(|sent| sent.carried == carried && sent.sequence <= sequence);
        let Some(sent) = place.and_then(|place| self.sent.get(place)) else { return };
        for (base, applied) in self.pulled.iter_mut().zip(&sent.pulled) {
            let newer = applied.filter(|applied| base.is_none_or(|base| base.moved <= applied.moved));
            *base = newer.or(*base);
        }
        let in_message = |chunk: &Chunk| mass && chunk.is_in(Mask::from_bits(mask));
        for ((known, given), chunk) in self.pushed.iter_mut().zip(&sent.given).zip(pushed) {
            if in_message(chunk) {
                known.applied = known.applied.max(Some(*given));
            }
        }
        self.sent.retain(|sent| sent.sequence > sequence || sent.carried != carried);
    }

    /// Takes in that the node could not complete the words of a message: it gets full ones until it
    /// says that it has applied them.
    fn refuse(&mut self, sequence: u64) {
        if sequence > self.since {
            self.since = self.sent.back().map_or(sequence, |sent| sent.sequence.max(sequence));
            self.sent.clear();
            self.pulled.fill(None);
            self.pushed.iter_mut().for_each(|chunk| chunk.applied = None);
        }
    }
}

#[cfg(test)]
mod tests;
