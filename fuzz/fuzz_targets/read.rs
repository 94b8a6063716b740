//! Any bytes are read as a message or refused: the reader never panics, and accepts nothing that is
//! longer than the format of the run allows.
#![no_main]

use std::sync::LazyLock;

use fabnet_core::peer::{BEGINNING, Envelope, WireFormat, WordLength};
use fabnet_core::{Scalar, Segment, SegmentKind, Segments};
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

const RUN: u64 = 7;
const NODES: usize = 5;

/// Formats of runs: one with all kinds of segments, two of them of the same kind, and the one of
/// the messages that are kept under tests/versions.
static FORMATS: LazyLock<[(WordLength, WireFormat); 2]> = LazyLock::new(|| {
    let all = [(SegmentKind::Pull, 3), (SegmentKind::Push, 4), (SegmentKind::Max, 2), (SegmentKind::Pull, 1)];
    let kept = [(SegmentKind::Pull, 2), (SegmentKind::Push, 2)];
    [(WordLength::Bits8, &all[..]), (WordLength::Bits16, &kept)].map(|(length, segments)| {
        let segments = segments.iter().map(|&(kind, width)| Segment::new(kind, width));
        (length, WireFormat::new(RUN, NODES, &Segments::new(segments), length))
    })
});

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(Envelope::read(bytes).is_some(), bytes.len() >= 24);
    for (length, format) in &*FORMATS {
        read::<f64>(format, bytes);
        read::<f32>(format, bytes);
        if let Some(mut repaired) = repair(bytes, *length) {
            read::<f64>(format, &repaired);
            read::<f32>(format, &repaired);
            if let Some(last) = repaired.last_mut() {
                *last ^= 1;
                assert!(format.read::<f64>(&repaired).is_err(), "the checksum is wrong");
            }
        }
    }
});

/// Reads bytes, and checks the bounds of everything in a message that is accepted.
fn read<T: Scalar>(format: &WireFormat, bytes: &[u8]) {
    if let Ok(message) = format.read::<T>(bytes) {
        assert!(bytes.len() <= format.longest(T::BYTES));
        let control = message.control;
        assert!(control.member_states().count() <= NODES && control.closures().count() <= NODES);
        assert!(control.heartbeats().count() <= 16 && control.acks().count() <= 8 && control.receipts().count() <= 256);
        assert!(message.full_scalars::<T>().all(num_traits::Float::is_finite));
    }
}

/// The same bytes with the right beginning, run, layout and checksum, so that the rest of the
/// reader is reached; `None` if they are too short for these.
fn repair(bytes: &[u8], length: WordLength) -> Option<Vec<u8>> {
    let mut repaired = bytes.to_vec();
    let end = repaired.len().checked_sub(8).filter(|end| *end >= 16)?;
    repaired[..6].copy_from_slice(&BEGINNING);
    repaired[8..16].copy_from_slice(&RUN.to_le_bytes());
    if let Some(layout) = repaired[..end].get_mut(122..128) {
        // One piece, and words of this many bits.
        layout.copy_from_slice(&[0, 0, 1, 0, length.bits() as u8, 0]);
    }
    let checksum = XxHash3_64::oneshot(&repaired[..end]);
    repaired[end..].copy_from_slice(&checksum.to_le_bytes());
    Some(repaired)
}
