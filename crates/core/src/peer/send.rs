//! Messages that leave a peer.

use super::event::Effect;
use super::exchange::{PulledBase, Unapplied};
use super::ledger::Unit;
use super::machine::Peer;
use super::membership::Carried;
use super::wire::{Contents, Header, WireFormat, WordKind, write_mass, write_scalars};
use crate::rng::{Purpose, Stream};
use crate::{Mask, Scalar};

impl<T: Scalar> Peer<T> {
    /// Writes a message to a node and hands it out. The table travels with it if `table` says so,
    /// for some rounds after a change, and with every n-th message.
    pub(super) fn send(&mut self, to: u32, mask: Mask, contents: Contents, table: bool, effects: &mut Vec<Effect>) {
        let (round, every) = (self.clock.round(), self.config.policy.attach_every);
        let sequence = self.exchange.send(to, self.clock.now(), contents.mass);
        let edge = self.exchange.edge_mut(to);
        let table = table || self.membership.attaches_table(round) || edge.is_table_due(every);
        if table {
            edge.send_table();
        }
        let (seed, node) = (self.config.seed, self.config.node as usize);
        let stream = || Stream::new(seed, node, sequence, Purpose::Table);
        let most = table.then(|| self.format.states_per_message());
        let mut gossip = self.membership.gossip(to, most, round, stream);
        let body = self.write_body(to, sequence, mask, contents);
        // The same for all that is sent to the node in this round, as often as it is sent.
        let stream = Stream::new(seed ^ u64::from(to) << 32, node, round, Purpose::Receipts);
        gossip.receipts = self.membership.receipts_for(to, stream, body.len());
        let mut bytes = self.format.begin(&self.header(to, sequence, mask, contents), &gossip, body.len());
        bytes.extend_from_slice(&body);
        WireFormat::end(&mut bytes);
        self.counters.messages += 1;
        self.counters.bytes += bytes.len() as u64;
        effects.push(Effect::Send { to, bytes });
    }

    /// The scalars and the mass of a message, as words where the receiver can complete them.
    fn write_body(&mut self, to: u32, sequence: u64, mask: Mask, contents: Contents) -> Vec<u8> {
        let mut bytes = Vec::new();
        if !contents.pulled && !contents.mass {
            return bytes;
        }
        let unapplied = self.exchange.unapplied_mut(to, &self.format);
        let (row, mut sent) = (self.local.row(), vec![None; self.format.completed_chunks()]);
        if contents.pulled {
            self.format.largest(mask).for_each(|range| T::write_all(&row[range], &mut bytes));
            write_pulled(
                &self.format,
                (row, self.config.unit),
                self.local.movements(),
                (mask, unapplied),
                &mut sent,
                &mut bytes,
            );
        }
        if contents.mass {
            write_pushed(&self.format, self.ledger.sent(to).unwrap_or_default(), (mask, unapplied), &mut bytes);
        }
        let Contents { pulled, mass, .. } = contents;
        let carried = Carried::Parts { mask: mask.bits(), pulled, mass };
        unapplied.send(sequence, carried, self.format.pulled_chunks(), if pulled { sent } else { Vec::new() });
        bytes
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

/// Writes the pulled chunks of a mask, and notes of each what its receiver then holds.
fn write_pulled<T: Scalar>(
    format: &WireFormat,
    (row, unit): (&[T], Unit),
    movements: &[u128],
    (mask, unapplied): (Mask, &Unapplied),
    sent: &mut [Option<PulledBase>],
    bytes: &mut Vec<u8>,
) {
    let length = format.length();
    let chunks = format.pulled_chunks().iter().enumerate();
    for (number, chunk) in chunks.filter(|(_, chunk)| chunk.is_in(mask)) {
        let scalars = &row[chunk.place.clone()];
        if sent.is_empty() {
            write_scalars(scalars, unit, None, bytes);
            continue;
        }
        let moved = movements.get(number).copied().unwrap_or(0);
        let change = unapplied.moved_since_last(number, moved);
        let is_fine = |shift| WordKind::is_fine(shift, change);
        let kind = chunk.words(length, T::BYTES, unapplied.pulled_bound(number, moved), is_fine);
        let used = write_scalars(scalars, unit, kind, bytes);
        let has_units = used.is_some() || scalars.iter().all(|&scalar| unit.units(scalar).is_some());
        sent[number] = has_units.then_some(PulledBase { moved, shift: used.map_or(0, |kind| kind.shift) });
    }
}

/// Writes the pushed chunks of a mask.
fn write_pushed(format: &WireFormat, sums: &[i64], (mask, unapplied): (Mask, &Unapplied), bytes: &mut Vec<u8>) {
    let length = format.length();
    let chunks = format.pushed_chunks().iter().enumerate();
    for (number, chunk) in chunks.filter(|(_, chunk)| chunk.is_in(mask)) {
        let sums = &sums[chunk.place.clone()];
        let zeros = sums.iter().fold(0, |bits, sum| bits | sum).trailing_zeros();
        let kind = chunk.words(length, size_of::<i64>(), unapplied.pushed_bound(number), |shift| shift <= zeros);
        write_mass(sums, kind, bytes);
    }
}
