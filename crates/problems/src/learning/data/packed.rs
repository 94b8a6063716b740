//! Packed files, unpacked within limits: a few packed megabytes can stand for gigabytes.

use std::io::{Error, ErrorKind, Read, Result};

use flate2::read::MultiGzDecoder;

use super::idx;

/// The most bytes that a packed file may unpack to: twenty times the largest known one.
pub(super) const MOST: u64 = 1 << 30;

/// Unpacks a gzip file: at most the bytes that its header announces if it is an idx file, and at
/// most `most`.
pub(super) fn unpack(packed: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut decoder = MultiGzDecoder::new(packed);
    let mut unpacked = Vec::new();
    decoder.by_ref().take(idx::LONGEST_HEADER.min(most)).read_to_end(&mut unpacked)?;
    let announced = idx::announced(&unpacked);
    let limit = announced.unwrap_or(most).min(most);
    decoder.by_ref().take((limit + 1).saturating_sub(unpacked.len() as u64)).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 <= limit {
        return Ok(unpacked);
    }
    let message = match announced {
        Some(announced) if announced <= most => {
            format!("it unpacks to more than the {announced} bytes that its header announces")
        }
        _ => format!("it unpacks to more than {most} bytes, the most that is read"),
    };
    Err(Error::new(ErrorKind::InvalidData, format!("{message}: it is damaged, or not this data set")))
}

#[cfg(test)]
mod tests {
    use std::io::{Write, repeat};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(header: &[u8], zeros: u64) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(header).expect("memory");
        std::io::copy(&mut repeat(0).take(zeros), &mut encoder).expect("memory");
        encoder.finish().expect("memory")
    }

    /// Packed data that unpacks to far more than it may, and what is said of it.
    #[test]
    fn nothing_unpacks_beyond_its_limit() {
        const GREAT: u64 = 64 << 20;
        let idx = |sizes: [u32; 2]| [vec![0, 0, 8, 2], sizes.map(u32::to_be_bytes).concat()].concat();
        for (name, header, most, says) in [
            ("a short header", idx([10, 10]), GREAT / 2, "more than the 112 bytes that its header announces"),
            ("a great header", idx([u32::MAX, u32::MAX]), GREAT / 2, "more than 33554432 bytes, the most that is read"),
            ("a text", b"label\ttext\n".to_vec(), 1 << 20, "more than 1048576 bytes, the most that is read"),
            ("less than a header", idx([10, 10]), 4, "more than 4 bytes"),
        ] {
            let message = unpack(packed(&header, GREAT).as_slice(), most).expect_err(name).to_string();
            assert!(message.contains(says), "{name}: {message}");
        }
    }

    #[test]
    fn what_is_within_its_limit_is_unpacked_whole() {
        let header = [0, 0, 8, 1, 0, 0, 0, 100];
        for (file, len) in [(packed(&header, 100), 108), (packed(b"text", 96), 100), (packed(&[], 0), 0)] {
            assert_eq!(unpack(file.as_slice(), 108).expect("a valid file").len(), len);
        }
        // Files that were packed one after the other are one file.
        let parts = [packed(b"label", 0), packed(b"text", 0)].concat();
        assert_eq!(unpack(parts.as_slice(), 100).expect("a valid file"), b"labeltext");
    }
}
