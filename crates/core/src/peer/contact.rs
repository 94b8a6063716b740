//! What a peer knows of one other node, beside its standing and the edges in the ledger.

use std::ops::Range;

use super::message::{Header, Manifest, mass, scalars};
use crate::Scalar;

/// One other node.
#[derive(Clone, Debug, Default)]
pub(super) struct Contact {
    /// Messages that wait for the end of a round, by round; one in a free-running peer.
    pub(super) unread: Vec<Unread>,
    /// The latest round in which it was, as far as we know.
    pub(super) round: u64,
    /// The newest message of which mass or scalars were taken.
    pub(super) applied: u64,
    /// The round in which that was.
    pub(super) applied_in: u64,
    /// How often it has closed its edge to us, as far as we know.
    pub(super) its_generation: u64,
    /// How often we have closed ours to it.
    pub(super) generation: u64,
    /// Its newest acknowledgement of a message of ours.
    pub(super) acknowledged: u64,
    /// Since when messages of ours wait for one. Epochs do not begin this anew: a dead link stays dead.
    pub(super) unanswered_since: Option<u64>,
    /// Our edge to it is closed until it acknowledges a message after this one.
    pub(super) closed_at: Option<u64>,
    /// The newest message to it with mass.
    pub(super) mass_sent: u64,
    /// The round until which its standing is news.
    pub(super) told_until: u64,
    /// Messages to it since one had the table.
    pub(super) untold: u64,
    /// When it was last answered.
    pub(super) answered_at: Option<u64>,
    /// Its newest sign of life, and when we knew of it.
    pub(super) beat: u64,
    pub(super) alive_at: u64,
    /// The round in which we were when we last had a sign of life of it, directly or through others.
    pub(super) heard_in: Option<u64>,
    /// Whether it has said farewell itself.
    pub(super) left: bool,
    /// How often it came back from the dead.
    pub(super) returns: u32,
    /// Rounds in a row that did without its message.
    pub(super) missed: u32,
}

/// A message that waits.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    pub(super) header: Header,
    bytes: Vec<u8>,
    pulled: Range<usize>,
    mass: Range<usize>,
}

impl Unread {
    /// What was read of these bytes, to be kept with them.
    pub(super) fn new((header, pulled, mass): (Header, Range<usize>, Range<usize>), bytes: Vec<u8>) -> Self {
        Self { header, bytes, pulled, mass }
    }

    /// The scalars of the segment with this place in a row.
    pub(super) fn segment<T: Scalar>(&self, manifest: &Manifest, row: Range<usize>) -> impl Iterator<Item = T> {
        let before =
            manifest.pulled(self.header.mask).map(|(_, range)| range).take_while(|range| range.start < row.start);
        let start = self.pulled.start + before.map(|range| range.len()).sum::<usize>() * T::BYTES;
        scalars(&self.bytes[start..start + row.len() * T::BYTES])
    }

    /// All that was ever sent over the edge.
    pub(super) fn mass(&self) -> impl Iterator<Item = i64> {
        mass(&self.bytes[self.mass.clone()])
    }
}

impl Contact {
    /// Messages that wait at most: senders can be ahead.
    const WINDOW: usize = 16;
    /// So many rounds without its message, and nobody waits for it until it is heard again.
    pub(super) const MISSES: u32 = 3;

    /// Its new life has nothing in common with the old one; how often we closed our edge to it counts through our own life.
    pub(super) fn renew(&mut self, tick: u64) {
        let Self { generation, returns, .. } = *self;
        *self = Self { alive_at: tick, generation, returns, ..Self::default() };
    }

    /// Our new life: what we sent in the old one is gone, what it sends goes on.
    pub(super) fn forget_ours(&mut self) {
        self.unread.clear();
        (self.generation, self.acknowledged, self.unanswered_since, self.closed_at) = (0, 0, None, None);
    }

    /// For how long it has not acknowledged anything.
    pub(super) fn unanswered(&self, tick: u64) -> u64 {
        self.unanswered_since.map_or(0, |since| tick.saturating_sub(since))
    }

    /// Keeps the newest message.
    pub(super) fn keep_newest(&mut self, message: Unread) {
        if self.unread.first().is_none_or(|other| other.header.sequence < message.header.sequence) {
            self.unread.clear();
            self.unread.push(message);
        }
    }

    /// Keeps a message for each round, as many as there is room for.
    pub(super) fn keep_by_round(&mut self, message: Unread) {
        let place = self.unread.partition_point(|other| other.header.round < message.header.round);
        let same = self.unread.get(place).is_some_and(|other| other.header.round == message.header.round);
        if !same && self.unread.len() < Self::WINDOW {
            self.unread.insert(place, message);
            return;
        }
        // The last of the window stands for all that are later.
        let other = &mut self.unread[place.min(Self::WINDOW - 1)];
        if other.header.sequence < message.header.sequence {
            *other = message;
        }
    }

    /// Whether there is a message of this round or a later one.
    pub(super) fn has(&self, round: u64) -> bool {
        self.unread.last().is_some_and(|message| message.header.round >= round)
    }

    /// The message for a round: its own, else, of somebody who was waited for, the next, else the last before. Earlier ones are dropped.
    pub(super) fn take(&mut self, round: u64, awaited: bool) -> Option<Unread> {
        let place = self.unread.partition_point(|message| message.header.round < round);
        let later = self.unread.get(place);
        if later.is_some_and(|message| message.header.round == round) {
            return self.unread.drain(..=place).next_back();
        }
        // What is ahead counts now, and changes nothing when its own round comes.
        let ahead = later.filter(|_| awaited).cloned();
        let before = self.unread.drain(..place).next_back();
        ahead.or(before)
    }
}
