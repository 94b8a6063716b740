//! Messages that are written and read again, and bytes that are none.

use proptest::prelude::*;

use super::*;
use crate::peer::membership::{Ack, Carried, EdgeClosure, GossipPayload, Heartbeat, Incarnation, MemberState, Receipt};
use crate::{Mask, Scalar, Segment, SegmentKind, Segments};

const RECEIPT: Receipt = Receipt {
    by: 1,
    by_life: 5,
    from: 2,
    life: 6,
    carried: Carried::Parts { mask: 3, pulled: true, mass: false },
    sequence: 7,
};

/// Words that change the meaning of a message: small counts in either half, no number, anything.
fn changes() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..9u64, (0..9u64).prop_map(|count| count << 32), Just(f64::NAN.to_bits())]
}

proptest! {
    /// Bytes are a message of the run or are refused, without a panic, whatever the lengths in them
    /// say.
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..600), place in 0..40usize, change in changes()) {
        let format = format();
        prop_assert!(format.read::<f64>(&bytes).is_err());
        let mut message = example(&format);
        if let Some(word) = message.get_mut(8 * place..8 * place + 8) {
            word.copy_from_slice(&change.to_le_bytes());
        }
        // With a correct checksum again, so that only the numbers themselves can be refused.
        let end = message.len() - 8;
        let checksum = twox_hash::XxHash3_64::oneshot(&message[..end]);
        message[end..].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(read) = format.read::<f64>(&message) {
            prop_assert!(read.control.member_states().count() <= 5 && read.full_scalars::<f64>().all(f64::is_finite));
            prop_assert!(read.body.mass.len() <= 1);
        }
        prop_assert!(message.len() <= format.longest(8));
    }
}

fn format() -> WireFormat {
    WireFormat::new(
        7,
        5,
        &Segments::new([
            Segment::new(SegmentKind::Pull, 3),
            Segment::new(SegmentKind::Push, 4),
            Segment::new(SegmentKind::Max, 2),
        ]),
        WordLength::Bits16,
    )
}

/// A message with all chunks in full, and all that its header says.
pub(in crate::peer) fn in_full<T: Scalar>(
    format: &WireFormat,
    header: &Header,
    gossip: &GossipPayload,
    (row, mass): (&[T], &[i64]),
) -> Vec<u8> {
    let mut bytes = format.begin(header, gossip, 0);
    if header.contents.pulled {
        format.largest(header.mask).for_each(|range| T::write_all(&row[range], &mut bytes));
        for chunk in format.pulled_chunks() {
            write_full(&row[chunk.place.clone()], &mut bytes);
        }
    }
    if header.contents.mass {
        for chunk in format.pushed_chunks() {
            write_full_mass(&mass[chunk.place.clone()], &mut bytes);
        }
    }
    WireFormat::end(&mut bytes);
    bytes
}

fn header() -> Header {
    Header {
        from: 1,
        to: 2,
        incarnation: Incarnation { counter: 3, nonce: 9 },
        to_incarnation: Incarnation::default(),
        epoch: 4,
        round: 5,
        sequence: 6,
        generation: 7,
        beat: 8,
        held: 4,
        digest: 9,
        mask: Mask::ALL,
        contents: Contents { pulled: true, mass: true, ..Contents::default() },
    }
}

fn example(format: &WireFormat) -> Vec<u8> {
    let (header, incarnation) = (header(), Incarnation { counter: 3, nonce: 9 });
    let gossip = GossipPayload {
        states: vec![(1, MemberState { incarnation, dead: true })],
        closures: vec![EdgeClosure { from: 1, to: 2, life: 3, generation: 4 }],
        heartbeats: vec![Heartbeat { node: 3, life: 1, count: 2 }],
        acks: vec![Ack { by: 1, from: 2, life: 3, sequence: 4 }],
        receipts: vec![RECEIPT],
        seals: Vec::new(),
    };
    let row = &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0, 5.0];
    in_full(format, &header, &gossip, (row, &[-1, 2, -3, 4]))
}

/// Every intent has bits of its own in the flags.
#[test]
fn intents_are_read_as_they_were_written() {
    for intent in [Intent::News, Intent::Answer, Intent::RequestShare] {
        let mut header = header();
        header.contents = Contents { pulled: false, mass: false, intent };
        let bytes = in_full::<f64>(&format(), &header, &GossipPayload::default(), (&[], &[]));
        assert_eq!(format().read::<f64>(&bytes).unwrap().header, header);
    }
}

#[test]
fn a_message_says_what_was_written() {
    let format = format();
    let bytes = example(&format);
    let message = format.read::<f64>(&bytes).unwrap();
    assert_eq!((message.header.from, message.header.to, message.header.epoch), (1, 2, 4));
    assert_eq!((message.header.round, message.header.sequence, message.header.generation), (5, 6, 7));
    assert_eq!((message.header.beat, message.header.digest), (8, 9));
    assert_eq!(
        message.control.member_states().collect::<Vec<_>>(),
        [(1, MemberState { incarnation: Incarnation { counter: 3, nonce: 9 }, dead: true })]
    );
    assert_eq!(
        message.control.closures().collect::<Vec<_>>(),
        [EdgeClosure { from: 1, to: 2, life: 3, generation: 4 }]
    );
    assert_eq!(Envelope::read(&bytes), Some(Envelope { run: 7, from: 1, to: 2 }));
    assert_eq!(message.control.heartbeats().collect::<Vec<_>>(), [Heartbeat { node: 3, life: 1, count: 2 }]);
    assert_eq!(message.control.acks().collect::<Vec<_>>(), [Ack { by: 1, from: 2, life: 3, sequence: 4 }]);
    assert_eq!(message.control.receipts().collect::<Vec<_>>(), [RECEIPT]);
    assert_eq!(message.full_scalars::<f64>().collect::<Vec<_>>(), [4.0, 5.0, 1.0, 2.0, 3.0]);
    let mass = EncodedChunk::read(&bytes[message.body.mass[0].clone()], 4, 8).unwrap().0;
    let EncodedChunk::Full(mass) = mass else { panic!("{mass:?}") };
    assert_eq!(mass, [-1i64, 2, -3, 4].map(i64::to_le_bytes).as_flattened());
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(format.read::<f64>(&damaged).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(format.read::<f64>(&bytes[..length]).is_err(), "length {length}");
    }
}

/// A message of another version, of another layout or with an authenticator that is too long is
/// refused with its reason.
#[test]
fn what_is_laid_out_otherwise_is_refused() {
    let format = format();
    let change = |place: usize, byte: u8| {
        let mut bytes = example(&format);
        bytes[place] = byte;
        let end = bytes.len() - 8;
        let checksum = twox_hash::XxHash3_64::oneshot(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
        format.read::<f64>(&bytes).map(|message| message.header.from)
    };
    assert_eq!(change(0, b'X'), Err(Malformed::Foreign));
    assert_eq!(change(4, 2), Err(Malformed::Version { theirs: 2, ours: 3 }));
    assert_eq!(change(126, 8), Err(Malformed::Layout), "words of another length");
    assert_eq!(change(124, 2), Err(Malformed::Layout), "two pieces");
    assert_eq!(change(121, 1), Err(Malformed::Length), "an authenticator of 256 bytes");
    assert_eq!(change(120, 0), Ok(1));
}

/// An authenticator is skipped by this version.
#[test]
fn an_authenticator_is_skipped() {
    let format = format();
    let mut bytes = example(&format);
    bytes[120] = 24;
    bytes.truncate(bytes.len() - 8);
    bytes.extend([7; 24]);
    WireFormat::end(&mut bytes);
    assert_eq!(format.read::<f64>(&bytes).unwrap().control.acks().count(), 1);
}
