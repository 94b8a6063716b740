//! Messages that leave a peer.

use super::event::Effect;
use super::exchange::PulledBase;
use super::ledger::Fraction;
use super::machine::Peer;
use super::membership::Carried;
use super::outgoing::Outgoing;
use super::wire::{CHUNK, Contents, Header, WireFormat, WordLength, write_full, write_full_mass, write_numbers};
use crate::rng::{Purpose, Stream};
use crate::{Mask, Scalar};

/// A message that is being written.
struct Draft {
    message: Outgoing,
    sequence: u64,
    /// What its receiver then holds of each pulled chunk.
    pulled: Vec<Option<PulledBase>>,
    bytes: Vec<u8>,
    /// The bytes of its header and its gossip.
    begun: usize,
}

impl<T: Scalar> Peer<T> {
    /// Writes a message and hands it out.
    pub(super) fn send(&mut self, message: Outgoing, effects: &mut Vec<Effect>) {
        self.send_all([message], effects);
    }

    /// Writes messages and hands them out. They are written side by side, chunk by chunk, so that
    /// what they have in common is read and computed once.
    pub(super) fn send_all(&mut self, messages: impl IntoIterator<Item = Outgoing>, effects: &mut Vec<Effect>) {
        let mut drafts: Vec<Draft> = messages.into_iter().map(|message| self.begin_message(message)).collect();
        self.write_pulled(&mut drafts);
        self.write_pushed(&mut drafts);
        for Draft { message: Outgoing { to, mask, contents, .. }, sequence, pulled, mut bytes, begun } in drafts {
            if contents.pulled || contents.mass {
                let carried = Carried::Parts { mask: mask.bits(), pulled: contents.pulled, mass: contents.mass };
                let unapplied = self.exchange.unapplied_mut(to, &self.format);
                unapplied.send(sequence, carried, self.format.pulled_chunks(), pulled);
            }
            self.counters.scalar_bytes += (bytes.len() - begun) as u64;
            WireFormat::end(&mut bytes);
            self.counters.messages += 1;
            self.counters.bytes += bytes.len() as u64;
            effects.push(Effect::Send { to, bytes });
        }
    }

    /// Numbers a message and writes its header and its gossip. The table travels with it if it says
    /// so, for some rounds after a change, and with every n-th message.
    fn begin_message(&mut self, message: Outgoing) -> Draft {
        let Outgoing { to, mask, contents, table, .. } = message;
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
        let mut gossip = self.membership.gossip(to, most, self.clock.now(), stream);
        let payload = self.format.payload(mask, contents, T::BYTES);
        gossip.receipts = self.membership.receipts_for(to, round, payload);
        let bytes = self.format.begin(&self.header(to, sequence, mask, contents), &gossip, payload);
        let chunks = if contents.pulled { self.format.completed_chunks() } else { 0 };
        Draft { message, sequence, pulled: vec![None; chunks], begun: bytes.len(), bytes }
    }

    /// Writes the scalars of largest and pulled segments, as words where the receiver can complete
    /// them.
    fn write_pulled(&mut self, drafts: &mut [Draft]) {
        let (row, movements, format) = (self.local.row(), self.local.movements(), &self.format);
        for draft in drafts.iter_mut().filter(|draft| draft.message.contents.pulled) {
            format.largest(draft.message.mask).for_each(|range| T::write_all(&row[range], &mut draft.bytes));
        }
        let mut units = [0; CHUNK];
        for (number, chunk) in format.pulled_chunks().iter().enumerate() {
            let is_in = |draft: &&mut Draft| draft.message.contents.pulled && chunk.is_in(draft.message.mask);
            let mut drafts = drafts.iter_mut().filter(is_in).peekable();
            let (scalars, units) = (&row[chunk.place.clone()], &mut units[..chunk.place.len()]);
            let completes = format.length() != WordLength::Full && drafts.peek().is_some();
            let has_units = completes && self.config.unit.all_units(scalars, units);
            let movement = movements.get(number);
            for draft in drafts {
                let unapplied = self.exchange.unapplied_mut(draft.message.to, format);
                let kind = unapplied.pulled_words((number, chunk), movement, format.length(), T::BYTES);
                let kind = kind.filter(|_| has_units);
                match kind {
                    Some(kind) => write_numbers(units, kind, &mut draft.bytes),
                    None => write_full(scalars, &mut draft.bytes),
                }
                if has_units {
                    let shift = kind.map_or(0, |kind| kind.shift);
                    draft.pulled[number] = Some(PulledBase { moved: movement.total, shift });
                }
            }
        }
    }

    /// Books shares, rounded so that their words can be told apart from all that their receivers
    /// may hold, and writes all mass that was ever sent over each edge.
    fn write_pushed(&mut self, drafts: &mut [Draft]) {
        let Self { format, ledger, exchange, .. } = self;
        let length = format.length();
        for (number, chunk) in format.pushed_chunks().iter().enumerate() {
            let is_in = |draft: &Draft| draft.message.contents.mass && chunk.is_in(draft.message.mask);
            let gives = |draft: &Draft| draft.message.share != Fraction::ZERO;
            let is_given = drafts.iter().any(|draft| is_in(draft) && gives(draft));
            let before = is_given.then(|| ledger.before(chunk.place.clone()));
            for draft in drafts.iter_mut().filter(|draft| is_in(draft)) {
                let (to, share) = (draft.message.to, draft.message.share);
                let unapplied = exchange.unapplied_mut(to, format);
                let mut kind = None;
                if let Some(before) = before.as_ref().filter(|_| gives(draft)) {
                    let change = ledger.send(to, share, before, |share| {
                        kind = unapplied.share_words((number, chunk), share, length);
                        kind.map_or(0, |kind| kind.shift)
                    });
                    unapplied.give(number, change);
                }
                let sums = &ledger.sent(to).unwrap_or_default()[chunk.place.clone()];
                if !gives(draft) {
                    kind = unapplied.repeated_words((number, chunk), sums, length);
                }
                match kind {
                    Some(kind) => write_numbers(sums, kind, &mut draft.bytes),
                    None => write_full_mass(sums, &mut draft.bytes),
                }
            }
        }
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
