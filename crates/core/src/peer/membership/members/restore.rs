//! What a snapshot keeps of the members, and how it comes back.

use std::sync::Arc;

use super::Membership;
use crate::peer::membership::gossip::EdgeClosure;
use crate::peer::membership::table::MemberState;

impl Membership {
    /// All closed edges.
    pub(crate) fn closures(&self) -> Vec<EdgeClosure> {
        self.news.closures().collect()
    }

    /// The seals of all states and of these closed edges, one after the other.
    pub(crate) fn seals(&self, closures: &[EdgeClosure]) -> Vec<u8> {
        let states: Vec<(u32, MemberState)> = self.table.entries().collect();
        self.seals.of_gossip(&states, closures)
    }

    /// The bytes of a seal; 0 if nothing is sealed.
    pub(crate) fn seal_length(&self) -> usize {
        self.seals.length()
    }

    /// Restores the table and the closed edges of a snapshot, with their seals.
    pub(crate) fn restore(
        &mut self,
        states: &[(u32, MemberState)],
        closures: &[EdgeClosure],
        seals: &[u8],
        round: u64,
    ) {
        let mut seals = seals.chunks_exact(self.seal_length().max(1));
        for &(node, state) in states {
            self.table.merge(node, state);
            if let Some(seal) = seals.next() {
                self.seals.keep_life(node, seal);
            }
        }
        for &closure in closures {
            self.news.add_closure(closure);
            if let Some(seal) = seals.next() {
                self.seals.keep_closure(closure.from, closure.to, seal);
            }
        }
        self.members = Arc::new(self.table.members().collect());
        self.attach_table(round);
    }

    /// Restores what a snapshot holds of the lives of nodes: how often they came back.
    pub(crate) fn restore_returns(&mut self, returns: impl Iterator<Item = (u32, u32)>, tick: u64) {
        self.detector.restore(returns, tick);
    }

    /// The number of things that are kept to be passed on: closed edges, acknowledgements, receipts
    /// and seals.
    pub(crate) fn rumours(&self) -> usize {
        self.news.len() + self.receipts.len() + self.seals.len()
    }
}
