//! Messages that leave a peer.

use super::event::Effect;
use super::machine::Peer;
use super::wire::{Contents, Draft, Header};
use crate::rng::{Purpose, Stream};
use crate::{Mask, Scalar};

impl<T: Scalar> Peer<T> {
    /// Writes a message to a node and hands it out. The table travels with it if `table` says so,
    /// for some rounds after a change, and with every n-th message.
    pub(super) fn send(&mut self, to: u32, mask: Mask, contents: Contents, table: bool, effects: &mut Vec<Effect>) {
        let (round, every) = (self.clock.round(), self.config.policy.attach_every);
        let sequence = self.exchange.send(to, self.clock.ticks(), contents.mass);
        let edge = self.exchange.edge_mut(to);
        let table = table || self.membership.attaches_table(round) || edge.is_table_due(every);
        if table {
            edge.send_table();
        }
        let (seed, node) = (self.config.seed, self.config.node as usize);
        let stream = || Stream::new(seed, node, sequence, Purpose::Table);
        let most = table.then(|| self.format.states_per_message());
        let gossip = self.membership.gossip(to, most, round, stream);
        let header = self.header(to, sequence, mask, contents);
        let mass = self.ledger.sent(to).unwrap_or_default();
        let bytes = self.format.write(&Draft { header, gossip: &gossip, row: self.local.row(), mass });
        self.counters.messages += 1;
        self.counters.bytes += bytes.len() as u64;
        effects.push(Effect::Send { to, bytes });
    }

    fn header(&self, to: u32, sequence: u64, mask: Mask, contents: Contents) -> Header {
        let edge = self.exchange.edge(to);
        Header {
            from: self.config.node,
            to,
            incarnation: self.membership.incarnation(),
            to_incarnation: self.membership.table().get(to).unwrap_or_default().incarnation,
            epoch: self.clock.epoch(),
            round: self.clock.round(),
            sequence,
            generation: edge.generation(),
            held: if self.ledger.received(to).is_some() { edge.its_generation() + 1 } else { 0 },
            beat: self.clock.ticks(),
            digest: self.membership.digest(),
            mask,
            contents,
        }
    }
}
