//! The control section of a message: gossip, in parts of which a reader skips those that it does
//! not know.
//!
//! A part has a word of its own, kind and length in bytes, and its entries follow:
//!
//! | kind | bytes of an entry | entries |
//! |---|---|---|
//! | 1 | 24 | states of members |
//! | 2 | 24 | closed edges |
//! | 3 | 16 | heartbeats |
//! | 4 | 24 | acknowledgements |
//! | 5 | 32 | receipts |
//! | 6 | as the run says | seals of the entries of parts 1 and 2, in their order |
//!
//! Part 6 is there in runs with seals only; a reader of another run skips it.

use super::words::{halves, join, put, words};
use crate::Mask;
use crate::peer::membership::{
    ACKS_PER_MESSAGE, Ack, Carried, EdgeClosure, GossipPayload, HEARTBEATS_PER_MESSAGE, Heartbeat, Incarnation,
    MemberState, RECEIPTS_PER_MESSAGE, Receipt,
};

/// The number of kinds of parts.
const KINDS: usize = 5;

/// The bytes of an entry of each kind.
const ENTRY: [usize; KINDS] = [24, 24, 16, 24, 32];

/// The kind of the part with seals.
const SEALS: u32 = 6;

/// The bytes of the word before the entries of a part.
const PART: usize = 8;

/// The bytes that a later version may add in parts that this one skips.
const ROOM: usize = 1024;

/// The control section of a message, part by part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control<'a> {
    parts: [&'a [u8]; KINDS],
    seals: &'a [u8],
    /// The bytes of a seal.
    seal: usize,
}

impl<'a> Control<'a> {
    /// The bytes of the longest section there can be, with this many states of members and seals
    /// of this many bytes.
    pub(super) fn longest(states: usize, seal: usize) -> usize {
        let entries = [states, states, HEARTBEATS_PER_MESSAGE, ACKS_PER_MESSAGE, RECEIPTS_PER_MESSAGE];
        let parts = entries.iter().zip(ENTRY).map(|(entries, bytes)| PART + entries * bytes);
        parts.sum::<usize>() + if seal > 0 { PART + 2 * states * seal } else { 0 } + ROOM
    }

    /// Writes the section.
    pub(super) fn write(gossip: &GossipPayload, bytes: &mut Vec<u8>) {
        let GossipPayload { states, closures, heartbeats, acks, receipts, seals } = gossip;
        begin_part(bytes, 1, states.len());
        for &(node, MemberState { incarnation, dead }) in states {
            put(bytes, [join(node, u32::from(dead)), incarnation.counter, incarnation.nonce]);
        }
        begin_part(bytes, 2, closures.len());
        for closure in closures {
            put(bytes, [join(closure.from, closure.to), closure.life, closure.generation]);
        }
        begin_part(bytes, 3, heartbeats.len());
        for heartbeat in heartbeats {
            put(bytes, [join(heartbeat.node, heartbeat.life), heartbeat.count]);
        }
        begin_part(bytes, 4, acks.len());
        for ack in acks {
            put(bytes, [join(ack.by, ack.from), ack.life, ack.sequence]);
        }
        begin_part(bytes, 5, receipts.len());
        for receipt in receipts {
            let Receipt { by, by_life, from, life, carried, sequence } = *receipt;
            let (mask, flags) = carried.words();
            put(bytes, [join(by, from), join(by_life, life), join(mask, flags), sequence]);
        }
        if !seals.is_empty() {
            put(bytes, [join(SEALS, seals.len() as u32)]);
            bytes.extend_from_slice(seals);
        }
    }

    /// Reads a section, or returns `None` if these bytes are none, or have more entries than there
    /// can be. A seal has this many bytes, none in a run without seals.
    pub(super) fn read(mut bytes: &'a [u8], states: usize, seal: usize) -> Option<Self> {
        let most = [states, states, HEARTBEATS_PER_MESSAGE, ACKS_PER_MESSAGE, RECEIPTS_PER_MESSAGE];
        let mut control = Self { seal, ..Self::default() };
        while let Some((word, rest)) = bytes.split_first_chunk() {
            let (kind, length) = halves(u64::from_le_bytes(*word));
            let (part, rest) = rest.split_at_checked(length as usize)?;
            bytes = rest;
            if kind == SEALS && seal > 0 {
                if !control.seals.is_empty() {
                    return None;
                }
                control.seals = part;
            }
            let Some(place) = (kind as usize).checked_sub(1).filter(|&place| place < KINDS) else { continue };
            let whole = part.len().is_multiple_of(ENTRY[place]) && part.len() <= most[place] * ENTRY[place];
            if !whole || !control.parts[place].is_empty() {
                return None;
            }
            control.parts[place] = part;
        }
        let sealed = control.parts[..2].iter().zip(ENTRY).map(|(part, entry)| part.len() / entry).sum::<usize>();
        let whole = control.seals.is_empty() || control.seals.len() == sealed * seal;
        (whole && bytes.is_empty()).then_some(control)
    }

    /// What the sender knows of members.
    pub fn member_states(&self) -> impl Iterator<Item = (u32, MemberState)> + use<'a> {
        words(self.parts[0]).map(|[node, counter, nonce]| {
            (node as u32, MemberState { incarnation: Incarnation { counter, nonce }, dead: node >> 32 != 0 })
        })
    }

    /// The seals of these states, in their order; empty ones where there are none.
    pub fn life_seals(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.seals_from(0)
    }

    /// The seals of the closed edges, in their order; empty ones where there are none.
    pub fn closure_seals(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.seals_from(self.parts[0].len() / ENTRY[0])
    }

    fn seals_from(&self, first: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (seals, seal) = (self.seals, self.seal);
        (first..).map(move |place| seals.get(place * seal..(place + 1) * seal).unwrap_or_default())
    }

    /// Edges that were closed.
    pub fn closures(&self) -> impl Iterator<Item = EdgeClosure> + use<'a> {
        words(self.parts[1]).map(|[edge, life, generation]| {
            let (from, to) = halves(edge);
            EdgeClosure { from, to, life, generation }
        })
    }

    /// Heartbeats of other members.
    pub fn heartbeats(&self) -> impl Iterator<Item = Heartbeat> + use<'a> {
        words(self.parts[2]).map(|[who, count]| {
            let (node, life) = halves(who);
            Heartbeat { node, life, count }
        })
    }

    /// Acknowledgements of messages, the receiver's own among them.
    pub fn acks(&self) -> impl Iterator<Item = Ack> + use<'a> {
        words(self.parts[3]).map(|[edge, life, sequence]| {
            let (by, from) = halves(edge);
            Ack { by, from, life, sequence }
        })
    }

    /// Receipts of scalars and mass, the receiver's own among them.
    pub fn receipts(&self) -> impl Iterator<Item = Receipt> + use<'a> {
        words(self.parts[4]).map(|[edge, lives, carried, sequence]| {
            let ((by, from), (by_life, life), (mask, flags)) = (halves(edge), halves(lives), halves(carried));
            Receipt { by, by_life, from, life, carried: Carried::of(Mask::from_bits(mask), flags), sequence }
        })
    }
}

/// Begins a part, unless it has no entries.
fn begin_part(bytes: &mut Vec<u8>, kind: u32, entries: usize) {
    if entries > 0 {
        put(bytes, [join(kind, (entries * ENTRY[kind as usize - 1]) as u32)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gossip() -> GossipPayload {
        GossipPayload { acks: vec![Ack { by: 1, from: 2, life: 3, sequence: 4 }], ..GossipPayload::default() }
    }

    #[test]
    fn parts_that_are_not_known_are_skipped() {
        let mut bytes = Vec::new();
        put(&mut bytes, [join(77, 5)]);
        bytes.extend([9; 5]);
        Control::write(&gossip(), &mut bytes);
        put(&mut bytes, [join(0, 0)]);
        let control = Control::read(&bytes, 3, 0).unwrap();
        assert_eq!(control.acks().collect::<Vec<_>>(), gossip().acks);
        assert_eq!(control.member_states().count() + control.receipts().count(), 0);
    }

    #[test]
    fn parts_that_are_cut_doubled_or_too_long_are_refused() {
        let mut bytes = Vec::new();
        Control::write(&gossip(), &mut bytes);
        assert!(Control::read(&bytes, 3, 0).is_some() && Control::read(&[], 3, 0).is_some());
        (1..bytes.len()).for_each(|length| assert!(Control::read(&bytes[..length], 3, 0).is_none(), "{length}"));
        assert!(Control::read(&[bytes.clone(), bytes.clone()].concat(), 3, 0).is_none(), "twice the same part");
        let many = GossipPayload { acks: vec![gossip().acks[0]; ACKS_PER_MESSAGE + 1], ..gossip() };
        let mut bytes = Vec::new();
        Control::write(&many, &mut bytes);
        assert!(Control::read(&bytes, 3, 0).is_none(), "more acknowledgements than there can be");
    }
}
