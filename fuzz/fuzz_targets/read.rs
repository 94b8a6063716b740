//! Any bytes are read as a message or refused: the reader never panics, and accepts nothing that is
//! longer than the format of the run allows.
#![no_main]

use std::sync::LazyLock;

use fabnet_core::peer::{BEGINNING, WireFormat, WordLength};
use fabnet_core::{Scalar, Segment, SegmentKind, Segments};
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

const RUN: u64 = 7;
const NODES: usize = 5;

/// A format with all kinds of segments, two of them of the same kind.
static FORMAT: LazyLock<WireFormat> = LazyLock::new(|| {
    let segments = [(SegmentKind::Pull, 3), (SegmentKind::Push, 4), (SegmentKind::Max, 2), (SegmentKind::Pull, 1)];
    let segments = Segments::new(segments.map(|(kind, width)| Segment::new(kind, width)));
    WireFormat::new(RUN, NODES, &segments, WordLength::Bits8)
});

fuzz_target!(|bytes: &[u8]| {
    read::<f64>(bytes);
    read::<f32>(bytes);
    if let Some(repaired) = repair(bytes) {
        read::<f64>(&repaired);
        read::<f32>(&repaired);
    }
});

/// Reads bytes, and checks the bounds of everything in a message that is accepted.
fn read<T: Scalar>(bytes: &[u8]) {
    if let Ok(message) = FORMAT.read::<T>(bytes) {
        assert!(bytes.len() <= FORMAT.longest(T::BYTES));
        let control = message.control;
        assert!(control.member_states().count() <= NODES && control.closures().count() <= NODES);
        assert!(control.heartbeats().count() <= 16 && control.acks().count() <= 8 && control.receipts().count() <= 256);
        assert!(message.full_scalars::<T>().all(num_traits::Float::is_finite));
    }
}

/// The same bytes with the right beginning, run and checksum, so that the rest of the reader is
/// reached; `None` if they are too short for these.
fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = bytes.to_vec();
    let end = repaired.len().checked_sub(8).filter(|end| *end >= 16)?;
    repaired[..6].copy_from_slice(&BEGINNING);
    repaired[8..16].copy_from_slice(&RUN.to_le_bytes());
    if let Some(layout) = repaired[..end].get_mut(122..128) {
        // One piece, and words of 8 bits.
        layout.copy_from_slice(&[0, 0, 1, 0, 8, 0]);
    }
    let checksum = XxHash3_64::oneshot(&repaired[..end]);
    repaired[end..].copy_from_slice(&checksum.to_le_bytes());
    Some(repaired)
}
