//! Who lives: what a peer concludes from news and silence, and what follows for its books.

use std::cmp::Ordering;

use super::contact::Contact;
use super::ledger::Reversal;
use super::membership::{Incarnation, Standing};
use super::message::Close;
use super::state::{Peer, Phase};
use crate::Scalar;
use crate::rng::{Purpose, Stream};

impl<T: Scalar> Peer<T> {
    /// Counts a node as dead.
    pub(super) fn give_up(&mut self, node: u32) {
        if node != self.task.node
            && let Some(incarnation) = self.table.living(node)
        {
            self.counters.evictions += 1;
            self.learn(node, Standing { incarnation, dead: true });
        }
    }

    /// Members without a sign of life are given up. Who hears of few is probably the one that is cut off, and waits longer.
    pub(super) fn judge_silence(&mut self) {
        let (tick, patience) = (self.tick, self.task.policy.evict_after);
        let silent = |contact: &Contact, patience: u64| tick.saturating_sub(contact.alive_at) > patience;
        let members = self.neighbours.members();
        let others = || {
            members.iter().filter(|&&node| node != self.task.node).map(|&node| (node, &self.contacts[node as usize]))
        };
        let heard = others().filter(|(_, contact)| !silent(contact, patience)).count();
        let patience = if 2 * heard < members.len() - 1 { 3 * patience } else { patience };
        let gone: Vec<u32> = others()
            .filter(|(_, contact)| silent(contact, patience << contact.returns.min(6)))
            .map(|(node, _)| node)
            .collect();
        for node in gone {
            self.give_up(node);
        }
    }

    /// Edges through which nothing comes are closed: what they hold is of no use to anybody.
    pub(super) fn judge_edges(&mut self) {
        let overdue = |node: &u32| self.contacts[*node as usize].unanswered(self.tick) > self.task.policy.close_after;
        let overdue: Vec<u32> = self.ledger.targets().filter(overdue).collect();
        for node in overdue {
            self.counters.closes += 1;
            self.close(node);
        }
    }

    /// Takes back what went over the edge to a node, which is to give it up.
    pub(super) fn close(&mut self, node: u32) {
        if self.ledger.sent(node).is_none() {
            return;
        }
        let reversal = self.ledger.take_back(node);
        let contact = &mut self.contacts[node as usize];
        contact.generation += 1;
        contact.closed_at = Some(self.sequence);
        let generation = contact.generation;
        self.news.close(Close { from: self.task.node, to: node, life: self.incarnation.tag(), generation });
        self.spread();
        self.bear(reversal);
    }

    /// Takes news of a node in, and what follows from them.
    pub(super) fn learn(&mut self, node: u32, news: Standing) {
        let known = self.table.get(node);
        if self.table.merge(node, news) != Ordering::Greater {
            return;
        }
        let contact = &mut self.contacts[node as usize];
        if known.is_some_and(|known| known.dead) && !news.dead {
            contact.returns += 1;
        }
        contact.renew(self.tick);
        contact.told_until = self.round + self.task.policy.attach_for;
        if known.is_some_and(|known| known.incarnation != news.incarnation) {
            self.news.forget(node);
        }
        let reversal = self.ledger.reverse(node);
        self.table_changed();
        self.bear(reversal);
    }

    /// What flows through a node on directed edges never cancels, so undoing an edge can change far more than there is: a new epoch is then better than bearing it.
    pub(super) fn bear(&mut self, reversal: Reversal) {
        let Reversal::Of(size) = reversal else { return };
        self.counters.reversals += 1;
        if size > self.task.policy.large_reversal || !self.task.algorithm.bears_reversals() {
            self.bump_epoch();
        }
    }

    pub(super) fn table_changed(&mut self) {
        self.neighbours.set_members(self.table.members().collect());
        self.spread();
    }

    /// There is news that everybody should have.
    pub(super) fn spread(&mut self) {
        self.digest = self.news.digest(&self.table);
        self.attach_until = self.round + self.task.policy.attach_for;
    }

    /// Comes back from the dead: a new life, without any edge.
    pub(super) fn refute(&mut self, rumour: Incarnation) {
        let counter = rumour.counter.max(self.incarnation.counter).saturating_add(1);
        let nonce = Stream::new(self.incarnation.nonce, self.task.node as usize, counter, Purpose::Lives).bits();
        self.incarnation = Incarnation { counter, nonce };
        self.counters.refutations += 1;
        // What the old life had to say is said in vain.
        self.awaited.clear();
        self.released.clear();
        self.life_ticket = self.next_ticket();
        self.news.forget(self.task.node);
        self.contacts.iter_mut().for_each(Contact::forget_ours);
        let input = self.ledger.input().to_vec();
        self.ledger.begin(&input);
        self.refresh_row();
        self.table.merge(self.task.node, Standing { incarnation: self.incarnation, dead: false });
        self.table_changed();
        self.phase = Phase::Unwritten;
        if !self.task.algorithm.bears_reversals() {
            self.bump_epoch();
        }
    }

    /// Begins a new epoch, for everyone who hears of it.
    pub(super) fn bump_epoch(&mut self) {
        self.enter(self.epoch.saturating_add(1));
    }

    pub(super) fn enter(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.counters.epochs += 1;
        self.contacts.iter_mut().for_each(|contact| contact.unread.retain(|message| message.header.epoch >= epoch));
        self.begin(&self.point());
    }
}
