//! One edge whose messages and receipts are lost, doubled and late: words are completed to what was
//! sent, always, if receipts mean applied.

use proptest::prelude::*;

use super::*;
use crate::peer::exchange::{Reading, Reference};
use crate::peer::ledger::Unit;
use crate::peer::ledger::round_down;
use crate::peer::wire::{EncodedChunk, WireFormat, WordLength, write_full, write_full_mass, write_numbers};
use crate::{Segment, SegmentKind, Segments};

const WIDTH: usize = 5;

/// What may happen between the two ends of an edge.
#[derive(Clone, Debug)]
enum Move {
    /// The row moves, and a share of this size is sent; the message may be lost.
    Send { size: u32, lost: bool },
    /// The receiver applies the oldest message that waits, or the newest, and drops older ones.
    Apply { newest: bool },
    /// The sender hears of the newest message that was applied, or of an earlier one.
    Receipt { late: usize },
    /// The sender closes the edge: both sums begin at 0.
    Close,
    /// The sender has forgotten what was applied.
    Crash,
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => (0..45u32, any::<bool>()).prop_map(|(size, lost)| Move::Send { size, lost }),
        4 => any::<bool>().prop_map(|newest| Move::Apply { newest }),
        3 => (0..3usize).prop_map(|late| Move::Receipt { late }),
        1 => Just(Move::Close),
        1 => Just(Move::Crash),
    ]
}

fn format(length: WordLength) -> WireFormat {
    let segments = [Segment::new(SegmentKind::Pull, WIDTH), Segment::new(SegmentKind::Push, WIDTH)];
    WireFormat::new(1, 2, &Segments::new(segments), length)
}

/// A message of the edge, with the numbers that its words stand for.
#[derive(Clone)]
struct Sent {
    sequence: u64,
    generation: u32,
    pulled: Vec<u8>,
    mass: Vec<u8>,
    sums: Vec<i64>,
}

/// Both ends of an edge.
struct OneEdge {
    format: WireFormat,
    unapplied: Unapplied,
    row: Vec<f64>,
    moved: u128,
    sums: Vec<i64>,
    generation: u32,
    sequence: u64,
    waiting: Vec<Sent>,
    reference: Reference,
    received: Vec<i64>,
    received_in: u32,
    receipts: Vec<u64>,
    /// Whether receipts are given for messages that only wait.
    receipts_on_arrival: bool,
}

const ALL: Carried = Carried::Parts { mask: u32::MAX, pulled: true, mass: true };

impl OneEdge {
    fn new(length: WordLength, receipts_on_arrival: bool) -> Self {
        let format = format(length);
        Self {
            unapplied: Unapplied::new(1, 1, 0),
            row: vec![0.25; WIDTH],
            moved: 0,
            sums: vec![0; WIDTH],
            generation: 0,
            sequence: 0,
            waiting: Vec::new(),
            reference: Reference::new(1),
            received: vec![0; WIDTH],
            received_in: 0,
            receipts: Vec::new(),
            receipts_on_arrival,
            format,
        }
    }

    fn send(&mut self, size: u32, lost: bool) {
        let unit = Unit::default();
        let step = 2f64.powi(size.cast_signed() - 45);
        let before = self.row.clone();
        self.row.iter_mut().enumerate().for_each(|(place, scalar)| *scalar += step * (place as f64 - 2.2));
        let largest = self.row.iter().zip(&before).map(|(now, before)| (now - before).abs()).fold(0.0, f64::max);
        self.moved += u128::from(unit.at_most(largest) + 2);
        let length = self.format.length();
        let (share, sums) = (3i64 << size.min(40), (0, &self.format.pushed_chunks()[0]));
        let kind = self.unapplied.share_words(sums, share.unsigned_abs(), length);
        let shift = kind.map_or(0, |kind| kind.shift);
        for (place, sum) in (0i64..).zip(&mut self.sums) {
            *sum = round_down(sum.wrapping_add(share - place), shift);
        }
        self.unapplied.give(0, share.unsigned_abs() + ((1 << shift) - 1));
        self.sequence += 1;
        let (mut pulled, mut mass, mut units) = (Vec::new(), Vec::new(), vec![0; WIDTH]);
        // What is sent again has words of its own.
        let kind = if size.is_multiple_of(2) { kind } else { self.unapplied.repeated_words(sums, &self.sums, length) };
        match kind {
            Some(kind) => write_numbers(&self.sums, kind, &mut mass),
            None => write_full_mass(&self.sums, &mut mass),
        }
        let movement = Movement { total: self.moved, lately: u64::MAX };
        let kind = self.unapplied.pulled_words((0, &self.format.pulled_chunks()[0]), movement, length, 8);
        assert!(unit.all_units(&self.row, &mut units));
        match kind {
            Some(kind) => write_numbers(&units, kind, &mut pulled),
            None => write_full(&self.row, &mut pulled),
        }
        let base = PulledBase { moved: self.moved, shift: kind.map_or(0, |kind| kind.shift) };
        self.unapplied.send(self.sequence, ALL, self.format.pulled_chunks(), vec![Some(base)]);
        if !lost {
            let sums = self.sums.clone();
            self.waiting.push(Sent { sequence: self.sequence, generation: self.generation, pulled, mass, sums });
            if self.receipts_on_arrival {
                self.receipts.push(self.sequence);
            }
        }
    }

    /// Applies a message, and returns whether its words stood for what was sent; `None` if they
    /// were refused.
    fn apply(&mut self, newest: bool) -> Option<bool> {
        if self.waiting.is_empty() {
            return Some(true);
        }
        let place = if newest { self.waiting.len() - 1 } else { 0 };
        let message = self.waiting.drain(..=place).next_back()?;
        if message.generation != self.received_in {
            (self.received, self.received_in) = (vec![0; WIDTH], message.generation);
        }
        let (pulled, _) = EncodedChunk::read(&message.pulled, WIDTH, 8)?;
        let (mass, _) = EncodedChunk::read(&message.mass, WIDTH, 8)?;
        let mut sums = [0; WIDTH];
        let whole = self.reference.hold::<f64>(0, pulled, Unit::default(), &mut Vec::new()) == Reading::Whole;
        if !mass.complete(&self.received, &mut sums) || !whole {
            return None;
        }
        self.received = sums.to_vec();
        if !self.receipts_on_arrival {
            self.receipts.push(message.sequence);
        }
        Some(sums[..] == message.sums)
    }

    /// Lets something happen, and returns whether all words were read as they were sent.
    fn make(&mut self, one: &Move) -> bool {
        match *one {
            Move::Send { size, lost } => self.send(size, lost),
            Move::Apply { newest } => return self.apply(newest) == Some(true),
            Move::Receipt { late } => {
                let place = self.receipts.len().checked_sub(1 + late);
                if let Some(&sequence) = place.and_then(|place| self.receipts.get(place)) {
                    self.unapplied.apply(ALL, sequence, self.format.pushed_chunks());
                }
            }
            Move::Close => {
                self.generation += 1;
                self.sums = vec![0; WIDTH];
                self.unapplied = Unapplied::new(1, 1, self.sequence);
            }
            Move::Crash => self.unapplied = Unapplied::unknown(1, 1, self.sequence),
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn words_are_read_as_they_were_sent(moves in prop::collection::vec(moves(), 1..80)) {
        for length in WordLength::ALL {
            let mut edge = OneEdge::new(length, false);
            for one in &moves {
                prop_assert!(edge.make(one), "{:?}: {:?}", length, one);
            }
        }
    }
}

/// The same edge with receipts for what has only arrived is read wrongly or refused, sometimes.
#[test]
fn receipts_on_arrival_are_not_enough() {
    let send = |size| Move::Send { size, lost: false };
    let mut wrong = 0;
    for size in 20..40 {
        let mut edge = OneEdge::new(WordLength::Bits8, true);
        let moves = [
            send(size),
            Move::Apply { newest: true },
            Move::Receipt { late: 0 },
            send(size),
            Move::Receipt { late: 0 },
            send(2),
            // The message between was never applied.
            Move::Apply { newest: true },
        ];
        wrong += usize::from(!moves.iter().all(|one| edge.make(one)));
    }
    assert!(wrong > 0);
}

#[test]
fn a_refusal_asks_for_full_words_once() {
    let mut edge = OneEdge::new(WordLength::Bits16, false);
    edge.send(30, false);
    assert!(edge.apply(true) == Some(true) && edge.make(&Move::Receipt { late: 0 }));
    assert!(edge.unapplied.pushed_bound(0) == Some(0) && edge.unapplied.is_settled());
    edge.send(30, true);
    edge.unapplied.apply(Carried::Refused, 2, edge.format.pushed_chunks());
    assert!(edge.unapplied.pushed_bound(0).is_none() && edge.unapplied.pulled[0].is_none());
    edge.send(30, false);
    assert!(edge.apply(true) == Some(true) && edge.make(&Move::Receipt { late: 0 }));
    edge.unapplied.apply(Carried::Refused, 2, edge.format.pushed_chunks());
    assert_eq!(edge.unapplied.pushed_bound(0), Some(0), "an old refusal says nothing new");
}

/// What an agent did far from the solution does not say how fine words must be where it is now.
#[test]
fn words_over_an_edge_that_was_not_used_for_long_are_fine_beside_what_moves_now() {
    let mut edge = OneEdge::new(WordLength::Bits16, false);
    edge.send(30, false);
    assert!(edge.apply(true) == Some(true) && edge.make(&Move::Receipt { late: 0 }));
    let words = |lately| {
        let movement = Movement { total: edge.moved + (1 << 40), lately };
        edge.unapplied.pulled_words((0, &edge.format.pulled_chunks()[0]), movement, WordLength::Bits16, 8)
    };
    let coarse = words(1 << 40).unwrap();
    assert!(coarse.length == WordLength::Bits16 && coarse.shift > 20, "{coarse:?}");
    let fine = words(1 << 20).unwrap();
    assert!(fine.length == WordLength::Bits32 && fine.shift <= 17, "{fine:?}");
    assert_eq!(words(0), None, "who does not move any more says exactly where it is");
}

#[test]
fn a_message_that_says_the_same_again_is_kept_once() {
    let mut edge = OneEdge::new(WordLength::Bits16, false);
    edge.send(30, false);
    let base = Some(PulledBase { moved: edge.moved, shift: 0 });
    edge.unapplied.send(9, ALL, edge.format.pulled_chunks(), vec![base]);
    assert_eq!(edge.unapplied.sent.len(), 1);
    for size in 0..40 {
        edge.send(size, true);
        assert!(edge.unapplied.sent.len() <= Unapplied::KEPT + 1);
    }
}
