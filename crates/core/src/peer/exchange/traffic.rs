//! The edges and inboxes of one peer, node by node.

use std::collections::{BTreeMap, BTreeSet};

use super::edge::Edge;
use super::inbox::{Inbox, Unread};
use super::reference::Reference;
use super::unapplied::Unapplied;
use crate::peer::clock::Moment;
use crate::peer::membership::Carried;
use crate::peer::policy::SyncMode;
use crate::peer::wire::WireFormat;

/// The edges and the inboxes of one peer, and the number of its last message.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// The number of the last message. It counts through a life, in all epochs and to all
    /// receivers, so that two messages of a life can always be compared.
    sequence: u64,
    /// The number of nodes that can take part.
    nodes: usize,
    /// The nodes with which anything was exchanged.
    contacts: BTreeMap<u32, Contact>,
    /// What there is with all others.
    stranger: Contact,
    /// The nodes whose messages wait.
    waiting: BTreeSet<u32>,
    /// What nodes may not have applied of our messages; of others, nothing was sent yet.
    pub(super) unapplied: BTreeMap<u32, Unapplied>,
    /// What is held of the pulled scalars of other nodes.
    references: BTreeMap<u32, Reference>,
}

/// The edges to and from one node, and its messages that wait.
#[derive(Clone, Debug, Default)]
struct Contact {
    edge: Edge,
    inbox: Inbox,
}

/// The sources of a round for which the peer waits, and those of them whose message is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    pub(crate) sources: usize,
    pub(crate) missing: usize,
}

impl Exchange {
    /// An exchange with this many nodes, before the first message.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            sequence: 0,
            nodes,
            contacts: BTreeMap::new(),
            stranger: Contact::default(),
            waiting: BTreeSet::new(),
            unapplied: BTreeMap::new(),
            references: BTreeMap::new(),
        }
    }

    /// The number of the last message.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The edges to and from a node.
    pub(crate) fn edge(&self, node: u32) -> &Edge {
        &self.contact(node).edge
    }

    /// The edges to and from a node, to be changed.
    pub(crate) fn edge_mut(&mut self, node: u32) -> &mut Edge {
        &mut self.contacts.entry(node).or_default().edge
    }

    /// The messages of a node that wait.
    pub(crate) fn inbox(&self, node: u32) -> &Inbox {
        &self.contact(node).inbox
    }

    /// The messages of a node that wait, to be changed.
    pub(crate) fn inbox_mut(&mut self, node: u32) -> &mut Inbox {
        &mut self.contacts.entry(node).or_default().inbox
    }

    /// Keeps a message until the end of a round.
    pub(crate) fn keep(&mut self, message: Unread, sync: SyncMode) {
        let from = message.header.from;
        self.waiting.insert(from);
        self.inbox_mut(from).keep(message, sync);
    }

    fn contact(&self, node: u32) -> &Contact {
        self.contacts.get(&node).unwrap_or(&self.stranger)
    }

    /// What a node may not have applied of our messages.
    pub(crate) fn unapplied_mut(&mut self, to: u32, format: &WireFormat) -> &mut Unapplied {
        let (pulled, pushed) = (format.completed_chunks(), format.pushed_chunks().len());
        let since = self.sequence;
        self.unapplied.entry(to).or_insert_with(|| Unapplied::new(pulled, pushed, since))
    }

    /// Takes in that a node has applied a message of ours, or could not.
    pub(crate) fn apply(&mut self, by: u32, carried: Carried, sequence: u64, format: &WireFormat) {
        if let Some(unapplied) = self.unapplied.get_mut(&by) {
            unapplied.apply(carried, sequence, format.pushed_chunks());
            if unapplied.is_settled() {
                self.edge_mut(by).settle();
            }
        }
    }

    /// Forgets what nodes may not have applied of mass, because of a crash.
    pub(crate) fn forget_applied(&mut self, targets: impl Iterator<Item = u32>, format: &WireFormat) {
        let (pulled, pushed) = (format.completed_chunks(), format.pushed_chunks().len());
        self.unapplied.extend(targets.map(|to| (to, Unapplied::unknown(pulled, pushed, self.sequence))));
    }

    /// What is held of the pulled scalars of these nodes, which are ascending.
    pub(crate) fn references(&mut self, nodes: &[u32], format: &WireFormat) -> Vec<&mut Reference> {
        for &node in nodes {
            self.references.entry(node).or_insert_with(|| Reference::new(format.pulled_chunks().len()));
        }
        let wanted = self.references.iter_mut().filter(|(node, _)| nodes.binary_search(node).is_ok());
        wanted.map(|(_, reference)| reference).collect()
    }

    /// Forgets what is held of all pulled scalars, so that no words can be completed from it.
    #[cfg(test)]
    pub(crate) fn forget_references(&mut self) {
        self.references.clear();
    }

    /// Closes our edge to a node: its sums begin anew. Returns its new generation.
    pub(crate) fn close(&mut self, to: u32) -> u64 {
        self.unapplied.remove(&to);
        let last = self.sequence;
        self.edge_mut(to).close(last)
    }

    /// Whether there is a node with this number.
    pub(crate) fn knows(&self, node: u32) -> bool {
        (node as usize) < self.nodes
    }

    /// The nodes of which messages were used, ascending, each with our round of the last one.
    pub(crate) fn used_in(&self) -> impl Iterator<Item = (u32, u64)> {
        let used = self.contacts.iter().filter(|(_, contact)| contact.inbox.applied() > 0);
        used.map(|(&node, contact)| (node, contact.inbox.applied_in()))
    }

    /// The nodes that were heard in their present lives, each with the latest round in which it
    /// was.
    pub(crate) fn heard(&self) -> impl Iterator<Item = (u32, u64)> {
        let heard = self.contacts.iter().filter(|(_, contact)| contact.inbox.is_heard());
        heard.map(|(&node, contact)| (node, contact.inbox.round()))
    }

    /// The number of messages that wait.
    pub(crate) fn unread(&self) -> usize {
        self.waiting.iter().map(|&node| self.inbox(node).len()).sum()
    }

    /// Numbers a message to a node and notes it.
    pub(crate) fn send(&mut self, to: u32, now: Moment, mass: bool) -> u64 {
        self.sequence += 1;
        let sequence = self.sequence;
        let waits = mass && !self.is_settled(to);
        let edge = self.edge_mut(to);
        edge.send(sequence, now, mass);
        if waits {
            edge.await_answer(now.tick);
        }
        sequence
    }

    /// Takes in that a node has received a message of ours.
    pub(crate) fn acknowledge(&mut self, by: u32, sequence: u64) {
        if let Some(contact) = self.contacts.get_mut(&by) {
            contact.edge.acknowledge(sequence);
        }
    }

    /// Takes in the generation of a node's edge to us and returns whether it is new. What waits of
    /// earlier generations is dropped: its sender has taken that mass back.
    pub(crate) fn raise_its_generation(&mut self, from: u32, generation: u64) -> bool {
        let news = self.edge_mut(from).raise_its_generation(generation);
        if news {
            self.inbox_mut(from).drop_generations_before(generation);
        }
        news
    }

    /// Whether all of these nodes have heard this peer.
    pub(crate) fn is_heard_by(&self, mut nodes: impl Iterator<Item = u32>) -> bool {
        nodes.all(|node| self.edge(node).is_heard())
    }

    /// The sources for which a round waits, among these.
    pub(crate) fn awaited(&self, sources: impl Iterator<Item = u32>, round: u64) -> Awaited {
        let mut awaited = Awaited::default();
        for inbox in sources.map(|source| self.inbox(source)).filter(|inbox| inbox.is_awaited()) {
            awaited.sources += 1;
            awaited.missing += usize::from(inbox.lacks(round));
        }
        awaited
    }

    /// Takes the messages that a round is to use out of the inboxes, ascending by sender. In
    /// lockstep, sources (ascending) of which there is none have missed the round.
    pub(crate) fn take(&mut self, round: u64, epoch: u64, sync: SyncMode, sources: &[(u32, f64)]) -> Vec<Unread> {
        let mut nodes = self.waiting.clone();
        nodes.extend(sources.iter().map(|(source, _)| *source));
        nodes.into_iter().filter_map(|node| self.take_of(node, round, epoch, sync, sources)).collect()
    }

    /// Takes the message that a round is to use out of the inbox of a node.
    fn take_of(&mut self, node: u32, round: u64, epoch: u64, sync: SyncMode, sources: &[(u32, f64)]) -> Option<Unread> {
        let awaited = sources.binary_search_by_key(&node, |(source, _)| *source).is_ok();
        let inbox = self.inbox_mut(node);
        let message = inbox.take(round, epoch, sync, awaited);
        if message.is_none() && awaited && sync != SyncMode::Free {
            inbox.miss();
        }
        if inbox.len() == 0 {
            self.waiting.remove(&node);
        }
        message
    }

    /// Starts anew with a node whose state has changed.
    pub(crate) fn renew(&mut self, node: u32) {
        if let Some(contact) = self.contacts.get_mut(&node) {
            contact.edge.renew();
            contact.inbox = Inbox::default();
        }
        self.waiting.remove(&node);
        self.unapplied.remove(&node);
        self.references.remove(&node);
    }

    /// Starts anew after the end of our own life. What waits was sent to that life.
    pub(crate) fn begin_life(&mut self) {
        for contact in self.contacts.values_mut() {
            contact.edge.begin_life();
            contact.inbox.clear();
        }
        self.waiting.clear();
        (self.unapplied, self.references) = Default::default();
    }

    /// Drops what waits of earlier epochs. Rows and sums begin anew, for all in this epoch.
    pub(crate) fn enter_epoch(&mut self, epoch: u64) {
        (self.unapplied, self.references) = Default::default();
        self.contacts.values_mut().for_each(|contact| contact.inbox.drop_epochs_before(epoch));
    }

    /// Restores the number of the last message from a snapshot.
    pub(crate) fn restore(&mut self, sequence: u64) {
        self.sequence = sequence;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tick: u64) -> Moment {
        Moment { round: 0, tick }
    }

    #[test]
    fn messages_are_numbered_across_receivers_and_lives() {
        let mut exchange = Exchange::new(3);
        assert_eq!(
            [exchange.send(1, at(0), true), exchange.send(2, at(0), false), exchange.send(1, at(0), false)],
            [1, 2, 3]
        );
        assert_eq!((exchange.edge(1).mass_sent(), exchange.edge(2).mass_sent()), (1, 0));
        exchange.enter_epoch(1);
        exchange.begin_life();
        assert_eq!(exchange.send(1, at(0), false), 4);
    }

    #[test]
    fn sources_without_a_message_miss_the_round_in_lockstep_only() {
        let sources = [(1, 0.5), (2, 0.5)];
        for (sync, awaited) in [(SyncMode::Free, 2), (SyncMode::Lockstep { deadline: 1 }, 0)] {
            let mut exchange = Exchange::new(3);
            (0..3).for_each(|round| assert!(exchange.take(round, 0, sync, &sources).is_empty()));
            assert_eq!(exchange.awaited(1..3, 3), Awaited { sources: awaited, missing: awaited });
        }
    }

    #[test]
    fn the_end_of_our_own_life_is_not_the_end_of_theirs() {
        let mut exchange = Exchange::new(2);
        exchange.edge_mut(1).close(1);
        assert!(exchange.raise_its_generation(1, 4));
        exchange.begin_life();
        assert_eq!((exchange.edge(1).generation(), exchange.edge(1).its_generation()), (0, 4));
        exchange.edge_mut(1).close(1);
        exchange.renew(1);
        assert_eq!((exchange.edge(1).generation(), exchange.edge(1).its_generation()), (1, 0));
    }
}
