//! What can be seen of a peer.

use twox_hash::XxHash3_64;

use super::ledger::Ledger;
use super::membership::{Incarnation, Table};
use super::state::{Counters, Peer, Task};
use crate::{Scalar, Work};

impl<T: Scalar> Peer<T> {
    /// Which node this is.
    pub fn node(&self) -> u32 {
        self.task.node
    }

    /// Its life.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Its epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Rounds that are done.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Its books.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whom it knows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How often it has closed its edge to a node.
    pub fn generation(&self, to: u32) -> u64 {
        self.contacts[to as usize].generation
    }

    /// How often a node has closed its edge to this one, as far as is known.
    pub fn its_generation(&self, from: u32) -> u64 {
        self.contacts[from as usize].its_generation
    }

    /// Messages that wait for the end of the round.
    pub fn unread(&self) -> usize {
        self.contacts.iter().map(|contact| contact.unread.len()).sum()
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Its row, as it is sent next.
    pub fn row(&self) -> &[T] {
        &self.row
    }

    /// What stays with it.
    pub fn keep(&self) -> &[T] {
        &self.keep
    }

    /// What it puts into pushed segments.
    pub fn input(&self) -> &[T] {
        &self.input
    }

    /// Bytes of its state: rows, what stays, inputs, and its books.
    pub fn state_bytes(&self) -> usize {
        (2 * self.row.len() + self.keep.len() + self.input.len()) * T::BYTES + self.ledger.bytes()
    }

    /// One number for its round, its row and what stays with it, to the last bit.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes = self.round.to_le_bytes().to_vec();
        self.row.iter().chain(&self.keep).for_each(|scalar| scalar.write(&mut bytes));
        XxHash3_64::oneshot(&bytes)
    }

    /// How far neighbours were away when there was last a checkpoint: mixing moved what is pulled so far, in the Euclidean norm.
    pub fn disagreement(&self) -> f64 {
        self.disagreement
    }

    /// Whether it has begun with its rounds, or may.
    pub fn has_begun(&self) -> bool {
        self.gathered
    }

    /// The round in which this peer was when it last had a sign of life of a node, in its present
    /// life and from messages that it accepted: directly or through others.
    pub fn heard_in(&self, node: u32) -> Option<u64> {
        self.contacts.get(node as usize)?.heard_in
    }

    /// The latest round in which a node was, as far as its own messages say.
    pub fn round_of(&self, node: u32) -> u64 {
        self.contacts.get(node as usize).map_or(0, |contact| contact.round)
    }

    /// Whether a node has said farewell to this peer.
    pub fn has_left(&self, node: u32) -> bool {
        self.contacts.get(node as usize).is_some_and(|contact| contact.left)
    }

    /// Whom it is to hear in this round.
    pub fn sources(&mut self) -> impl Iterator<Item = u32> {
        self.neighbours.at(self.round).sources.iter().map(|(source, _)| *source)
    }

    /// Rounds since the source that is silent for longest was heard.
    pub fn pull_age(&mut self) -> u64 {
        let round = self.round;
        let sources = &self.neighbours.at(round).sources;
        let ages = sources.iter().map(|(source, _)| round.saturating_sub(self.contacts[*source as usize].applied_in));
        ages.max().unwrap_or(0)
    }

    /// What went over edges that do not answer, by receiver, in the Euclidean norm.
    pub fn parked(&self) -> impl Iterator<Item = (u32, f64)> {
        let silent =
            |node: &u32| self.contacts[*node as usize].unanswered(self.tick) > self.task.policy.unreachable_after;
        self.ledger.targets().filter(silent).map(|node| {
            let sums = self.ledger.sent(node).unwrap_or_default();
            (node, sums.iter().map(|&units| self.task.unit.scalar::<f64>(units).powi(2)).sum::<f64>().sqrt())
        })
    }

    /// The oracle's counters.
    pub fn work(&self) -> &Work<T> {
        &self.work
    }

    /// The problem and the method.
    pub fn task(&self) -> &Task<T> {
        &self.task
    }
}
