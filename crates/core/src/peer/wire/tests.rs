//! Messages that are written and read again, and bytes that are none.

use proptest::prelude::*;

use super::*;
use crate::peer::membership::{Ack, EdgeClosure, GossipPayload, Heartbeat, Incarnation, MemberState};
use crate::{Mask, Segment, SegmentKind, Segments};

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
            prop_assert!(read.member_states().count() <= 5 && read.scalars::<f64>().all(f64::is_finite));
            prop_assert!(read.mass().count() <= 4);
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
    )
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
    };
    let row = &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0, 5.0];
    format.write(&Draft { header, gossip: &gossip, row, mass: &[-1, 2, -3, 4] })
}

/// Every intent has bits of its own in the flags.
#[test]
fn intents_are_read_as_they_were_written() {
    for intent in [Intent::News, Intent::Answer, Intent::RequestShare] {
        let mut header = header();
        header.contents = Contents { pulled: false, mass: false, intent };
        let draft = Draft::<f64> { header, gossip: &GossipPayload::default(), row: &[], mass: &[] };
        assert_eq!(format().read::<f64>(&format().write(&draft)).unwrap().header, header);
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
        message.member_states().collect::<Vec<_>>(),
        [(1, MemberState { incarnation: Incarnation { counter: 3, nonce: 9 }, dead: true })]
    );
    assert_eq!(message.closures().collect::<Vec<_>>(), [EdgeClosure { from: 1, to: 2, life: 3, generation: 4 }]);
    assert_eq!(Envelope::read(&bytes), Some(Envelope { run: 7, from: 1, to: 2 }));
    assert_eq!(message.heartbeats().collect::<Vec<_>>(), [Heartbeat { node: 3, life: 1, count: 2 }]);
    assert_eq!(message.acks().collect::<Vec<_>>(), [Ack { by: 1, from: 2, life: 3, sequence: 4 }]);
    assert_eq!(message.scalars::<f64>().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(message.mass().collect::<Vec<_>>(), [-1, 2, -3, 4]);
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(format.read::<f64>(&damaged).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(format.read::<f64>(&bytes[..length]).is_err(), "length {length}");
    }
}
