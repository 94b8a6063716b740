//! What several fuzz targets need: files in memory, and checksums that are made right.

use std::path::Path;
use std::sync::Arc;

use fabnet_files::{Files, MemoryFiles};
use sha2::{Digest, Sha256};
use twox_hash::XxHash3_64;

/// Files in memory, of which one is there.
pub fn with_file(path: &Path, contents: &[u8]) -> Arc<dyn Files> {
    let files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    files.create_folder(path.parent().expect("a file is in a folder")).expect("memory takes folders");
    files.write(path, contents).expect("memory takes files");
    files
}

/// The SHA-256 of these parts, as hexadecimal digits.
pub fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same bytes as a file of frames: the signature and all checksums are made right, and lengths
/// beyond the end are cut.
pub fn repair_frames(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = b"FABNETF1".to_vec();
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let claimed = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let length = claimed.min(after.len().saturating_sub(8) as u32);
        let (contents, after) = after.split_at(length as usize);
        let place = repaired.len() as u64;
        repaired.extend(length.to_le_bytes());
        repaired.extend((XxHash3_64::oneshot_with_seed(place, &length.to_le_bytes()) as u32).to_le_bytes());
        repaired.extend(contents);
        repaired.extend(XxHash3_64::oneshot_with_seed(place, contents).to_le_bytes());
        rest = after.get(8..).unwrap_or_default();
    }
    repaired
}
