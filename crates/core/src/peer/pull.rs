//! How a peer mixes pulled segments with those of the messages that have arrived.

use super::exchange::{Reading, Reference, Unread};
use super::ledger::Unit;
use super::neighbours::Links;
use super::policy::SyncMode;
use super::wire::{Chunk, EncodedChunk, WireFormat, scalars};
use crate::{Mask, Scalar, SegmentKind, larger, linalg};

/// The messages of a round, and the weights with which their rows are averaged.
pub(crate) struct Pull<'a> {
    format: &'a WireFormat,
    mask: Mask,
    own_weight: f64,
    /// The messages, ascending by sender.
    rows: Vec<PulledRow<'a>>,
    /// Memory in which a chunk is completed.
    spare: Vec<i64>,
}

/// The row of another peer.
struct PulledRow<'a> {
    message: &'a Unread,
    /// What is held of its sender, if words can be completed from it.
    reference: Option<&'a mut Reference>,
    /// The weight with which it is averaged, if it is.
    weight: Option<f64>,
    /// What came of its words.
    reading: Reading,
}

impl<'a> Pull<'a> {
    /// The messages that have come in a round.
    ///
    /// Sources have the weights of the network. Others, which sent when they were sources or
    /// because they were asked, have the smallest weight of the round. In lockstep they count only
    /// if no source was heard, or peers with exact links would not do the same as exact mixing.
    pub(crate) fn new(
        format: &'a WireFormat,
        (links, sync, mask): (&Links, SyncMode, Mask),
        arrived: &'a [Unread],
    ) -> Self {
        let smallest = links.sources.iter().map(|(_, weight)| *weight).fold(links.own_pull, f64::min);
        let source = |message: &Unread| links.sources.binary_search_by_key(&message.header.from, |(source, _)| *source);
        let is_pulled = |message: &Unread| message.header.contents.pulled;
        let sources_only = sync != SyncMode::Free && arrived.iter().any(|one| is_pulled(one) && source(one).is_ok());
        let weight = |message: &Unread| match source(message) {
            _ if !is_pulled(message) => None,
            Ok(place) => Some(links.sources[place].1),
            Err(_) if sources_only => None,
            Err(_) => Some(smallest),
        };
        let row = |message| PulledRow { message, reference: None, weight: weight(message), reading: Reading::Whole };
        Self { format, mask, own_weight: links.own_pull, rows: arrived.iter().map(row).collect(), spare: Vec::new() }
    }

    /// Lets the words of some senders be completed from what is held of these.
    pub(crate) fn complete_from(&mut self, references: impl Iterator<Item = (u32, &'a mut Reference)>) {
        for (sender, reference) in references {
            if let Some(row) = self.rows.iter_mut().find(|row| row.message.header.from == sender) {
                row.reference = Some(reference);
            }
        }
    }

    /// What came of the words of each message.
    pub(crate) fn readings(&self) -> Vec<Reading> {
        self.rows.iter().map(|row| row.reading).collect()
    }

    /// Fills the pulled and largest segments of `next`.
    pub(crate) fn mix<T: Scalar>(&mut self, unit: Unit, now: &[T], next: &mut [T]) {
        for (number, chunk) in self.format.pulled_chunks().iter().enumerate() {
            self.average(number, chunk, unit, &now[chunk.place.clone()], &mut next[chunk.place.clone()]);
        }
        for part in self.format.layout().spans.iter().filter(|part| part.kind == SegmentKind::Max) {
            let mixed = &mut next[part.row.clone()];
            mixed.copy_from_slice(&now[part.row.clone()]);
            if self.mask.has(part.index) {
                let counts = |row: &&PulledRow<'_>| row.weight.is_some() && row.message.header.mask.has(part.index);
                let messages = self.rows.iter().filter(counts);
                take_largest(mixed, messages.map(|row| row.message.largest(self.format, &part.row)));
            }
        }
    }

    /// Averages a chunk with those of others, with weights that are scaled to sum to 1 over those
    /// that have arrived.
    fn average<T: Scalar>(&mut self, number: usize, chunk: &Chunk, unit: Unit, now: &[T], mixed: &mut [T]) {
        let mixes = chunk.is_in(self.mask);
        let (mut total, own) = (self.own_weight, if mixes { T::of(self.own_weight) } else { T::one() });
        mixed.iter_mut().zip(now).for_each(|(mixed, &now)| *mixed = own * now);
        for row in &mut self.rows {
            let Some(encoded) = row.message.pulled::<T>(self.format, number) else { continue };
            let reading = match &mut row.reference {
                Some(reference) => reference.hold::<T>(number, encoded, unit, &mut self.spare),
                None if encoded.is_full() => Reading::Whole,
                None => Reading::NothingHeld,
            };
            row.reading = row.reading.and(reading);
            let Some(weight) = row.weight.filter(|_| mixes && reading == Reading::Whole) else { continue };
            match (encoded, &row.reference) {
                (EncodedChunk::Full(bytes), _) => add(mixed, weight, scalars(bytes)),
                (EncodedChunk::Words { .. }, Some(reference)) => {
                    add(mixed, weight, reference.units(number).iter().map(|&units| unit.scalar(units)));
                }
                (EncodedChunk::Words { .. }, None) => continue,
            }
            total += weight;
        }
        if mixes {
            linalg::scale(mixed, T::of(1.0 / total));
        }
    }
}

fn add<T: Scalar>(mixed: &mut [T], weight: f64, row: impl Iterator<Item = T>) {
    mixed.iter_mut().zip(row).for_each(|(mixed, scalar)| *mixed = mixed.plus(T::of(weight), scalar));
}

/// Takes the largest of a segment and those of others.
fn take_largest<T: Scalar>(mixed: &mut [T], others: impl Iterator<Item = impl Iterator<Item = T>>) {
    for row in others {
        let other: Vec<T> = row.collect();
        if larger(&*mixed, &other) {
            mixed.copy_from_slice(&other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::membership::{GossipPayload, Incarnation};
    use crate::peer::wire::tests::in_full;
    use crate::peer::wire::{Contents, Header, WordLength};
    use crate::{Segment, Segments};

    const LOCKSTEP: SyncMode = SyncMode::Lockstep { deadline: 5 };

    /// Two pulled scalars, one pushed, and a largest pair.
    fn format() -> WireFormat {
        let segments =
            [Segment::new(SegmentKind::Pull, 2), Segment::new(SegmentKind::Push, 1), Segment::new(SegmentKind::Max, 2)];
        WireFormat::new(7, 5, &Segments::new(segments), WordLength::Bits16)
    }

    fn message(from: u32, row: [f64; 5]) -> Unread {
        let header = Header {
            from,
            to: 0,
            incarnation: Incarnation::default(),
            to_incarnation: Incarnation::default(),
            epoch: 0,
            round: 0,
            sequence: 1,
            generation: 0,
            held: 0,
            beat: 0,
            digest: 0,
            mask: Mask::ALL,
            contents: Contents { pulled: true, ..Contents::default() },
        };
        let bytes = in_full(&format(), &header, &GossipPayload::default(), (&row, &[]));
        let body = format().read::<f64>(&bytes).unwrap().body;
        Unread::new(header, Vec::new(), body, bytes)
    }

    /// A peer with sources 1 and 2, and with these messages.
    fn mixed(sync: SyncMode, mask: Mask, arrived: &[Unread]) -> [f64; 5] {
        let links = Links { own_pull: 0.5, sources: vec![(1, 0.3), (2, 0.2)], ..Links::default() };
        let (format, mut next) = (format(), [9.0; 5]);
        let mut pull = Pull::new(&format, (&links, sync, mask), arrived);
        pull.mix(Unit::default(), &[1.0, 2.0, 3.0, 4.0, 5.0], &mut next);
        next
    }

    fn is_near(row: [f64; 5], expected: [f64; 5]) -> bool {
        row.iter().zip(expected).all(|(scalar, expected)| (scalar - expected).abs() < 1e-15)
    }

    #[test]
    fn all_sources_are_averaged_with_their_weights() {
        let arrived = [message(1, [11.0, 2.0, 0.0, 4.0, 4.0]), message(2, [1.0, 12.0, 0.0, 4.0, 6.0])];
        let row = mixed(SyncMode::Free, Mask::ALL, &arrived);
        assert!(is_near(row, [4.0, 4.0, 9.0, 4.0, 6.0]), "{row:?}: pushed scalars are not touched");
    }

    #[test]
    fn weights_sum_to_one_over_those_that_have_arrived() {
        assert!(is_near(mixed(LOCKSTEP, Mask::ALL, &[]), [1.0, 2.0, 9.0, 4.0, 5.0]));
        let row = mixed(LOCKSTEP, Mask::ALL, &[message(1, [9.0, 10.0, 0.0, 0.0, 0.0])]);
        assert!(is_near(row, [4.0, 5.0, 9.0, 4.0, 5.0]), "{row:?}: 0.5 and 0.3 become 5/8 and 3/8");
    }

    #[test]
    fn others_than_sources_count_in_lockstep_only_if_no_source_was_heard() {
        let stranger = || message(4, [8.0, 9.0, 0.0, 9.0, 9.0]);
        let row = mixed(LOCKSTEP, Mask::ALL, &[stranger()]);
        assert!(is_near(row, [3.0, 4.0, 9.0, 9.0, 9.0]), "{row:?}: with the smallest weight, 0.2 of 0.7");
        let row = mixed(LOCKSTEP, Mask::ALL, &[message(1, [1.0, 2.0, 0.0, 0.0, 0.0]), stranger()]);
        assert!(is_near(row, [1.0, 2.0, 9.0, 4.0, 5.0]), "{row:?}");
        let row = mixed(SyncMode::Free, Mask::ALL, &[message(1, [1.0, 2.0, 0.0, 0.0, 0.0]), stranger()]);
        assert!(is_near(row, [2.4, 3.4, 9.0, 9.0, 9.0]), "{row:?}: 0.2 of 1.0");
    }

    #[test]
    fn segments_that_are_not_exchanged_stay_as_they_are() {
        let arrived = [message(1, [9.0, 9.0, 9.0, 9.0, 9.0])];
        assert!(is_near(mixed(SyncMode::Free, Mask::NONE, &arrived), [1.0, 2.0, 9.0, 4.0, 5.0]));
    }
}
