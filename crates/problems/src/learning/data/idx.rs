//! The idx format of MNIST: a magic number, sizes, then bytes.

/// The bytes of an idx file of unsigned bytes, and its sizes, the first of which counts the
/// entries.
#[derive(Debug)]
pub(super) struct Idx<'a> {
    pub(super) sizes: Vec<usize>,
    pub(super) bytes: &'a [u8],
}

/// The bytes of a header with as many sizes as there can be.
pub(super) const LONGEST_HEADER: u64 = 4 * 256;

/// The bytes that the header of an idx file announces, itself included; none if this is no
/// beginning of an idx file.
pub(super) fn announced(beginning: &[u8]) -> Option<u64> {
    let (&[0, 0, 8, dimensions], rest) = beginning.split_first_chunk()? else { return None };
    let sizes = rest.as_chunks().0.get(..usize::from(dimensions))?;
    let bytes = sizes.iter().fold(1u64, |product, size| product.saturating_mul(u32::from_be_bytes(*size).into()));
    Some(bytes.saturating_add(4 * (1 + u64::from(dimensions))))
}

/// Reads a file that has been unpacked.
pub(super) fn read(file: &[u8]) -> Result<Idx<'_>, String> {
    let word = |place: usize| -> Option<[u8; 4]> { file.get(place * 4..)?.first_chunk().copied() };
    let [0, 0, 8, dimensions] = word(0).ok_or("it is shorter than a header")? else {
        return Err("it is no idx file of unsigned bytes (its magic number is another one)".to_owned());
    };
    let dimensions = usize::from(dimensions);
    let size = |place| word(place).map(|bytes| u32::from_be_bytes(bytes) as usize);
    let sizes: Vec<usize> = (1..=dimensions).map(size).collect::<Option<_>>().ok_or("its header is cut off")?;
    let bytes = &file[4 * (dimensions + 1)..];
    let expected = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    if expected != Some(bytes.len()) {
        return Err(format!("it announces {sizes:?} bytes, but holds {}", bytes.len()));
    }
    Ok(Idx { sizes, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_bytes_are_read() {
        let file = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        let idx = read(&file).expect("a valid file");
        assert_eq!((idx.sizes, idx.bytes), (vec![2, 3], &[1, 2, 3, 4, 5, 6][..]));
    }

    #[test]
    fn broken_files_are_refused() {
        let file = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5];
        for (broken, says) in [
            (&file[..], "holds 5"),
            (&file[..10], "cut off"),
            (&file[..2], "shorter"),
            (&[0, 0, 9, 1, 0, 0, 0, 0], "magic"),
            (&[0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0], "holds 1"),
        ] {
            let message = read(broken).expect_err("a broken file");
            assert!(message.contains(says), "{message}");
        }
    }
}
