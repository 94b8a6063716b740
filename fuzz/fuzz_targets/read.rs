//! Any bytes are a message or are refused: nothing panics, and nothing is longer than the manifest allows.
#![no_main]

use std::sync::LazyLock;

use fabnet_core::peer::{BEGINNING, Manifest};
use fabnet_core::{Kind, Scalar, Segment, Segments};
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
    let segments = [Segment::new(Kind::Pull, 3), Segment::new(Kind::Push, 4), Segment::new(Kind::Max, 2), Segment::new(Kind::Pull, 1)];
    Manifest::new(7, 5, &Segments::new(segments))
});

fn read<T: Scalar>(bytes: &[u8]) {
    if let Ok(message) = MANIFEST.read::<T>(bytes) {
        assert!(bytes.len() <= MANIFEST.longest(T::BYTES));
        assert!(message.standings().count() <= 5 && message.closes().count() <= 5);
        assert!(message.beats().count() <= 16 && message.acks().count() <= 8);
        assert!(message.scalars::<T>().all(num_traits::Float::is_finite) && message.mass().count() <= 4);
    }
}

fuzz_target!(|bytes: &[u8]| {
    read::<f64>(bytes);
    read::<f32>(bytes);
    // The same with a checksum and a beginning that are right, so that the rest is reached.
    if bytes.len() >= 24 {
        let mut fixed = bytes.to_vec();
        fixed[..6].copy_from_slice(&BEGINNING);
        fixed[8..16].copy_from_slice(&7u64.to_le_bytes());
        let end = fixed.len() - 8;
        let checksum = XxHash3_64::oneshot(&fixed[..end]);
        fixed[end..].copy_from_slice(&checksum.to_le_bytes());
        read::<f64>(&fixed);
        read::<f32>(&fixed);
    }
});
