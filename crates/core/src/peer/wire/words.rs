//! Little-endian words: how numbers stand in messages.

use crate::Scalar;

/// Reads bytes as scalars.
pub(crate) fn scalars<T: Scalar>(bytes: &[u8]) -> impl Iterator<Item = T> + use<'_, T> {
    bytes.chunks_exact(T::BYTES).map(T::read)
}

/// Appends words to a message.
pub(super) fn put<const N: usize>(bytes: &mut Vec<u8>, words: [u64; N]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// Reads bytes as records of N words each.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> + use<'_, N> {
    let words = bytes.as_chunks::<8>().0;
    words.as_chunks::<N>().0.iter().map(|record| record.map(u64::from_le_bytes))
}

/// Joins two numbers to one word, the first in the low half.
pub(super) fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Splits a word into its low and its high half.
pub(super) fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_is_read(records in prop::collection::vec(any::<[u64; 3]>(), 0..9), low: u32, high: u32) {
            let mut bytes = Vec::new();
            for record in &records {
                put(&mut bytes, *record);
            }
            prop_assert_eq!(words::<3>(&bytes).collect::<Vec<_>>(), records);
            prop_assert_eq!(halves(join(low, high)), (low, high));
        }
    }
}
