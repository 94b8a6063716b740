//! Modulo words: the low bits of whole numbers, from which a receiver that holds a near number
//! completes them.
//!
//! A number x is sent as the lowest b bits of x / 2ˢ, where 2ˢ divides x. A receiver that holds a
//! number r takes the multiple of 2ˢ that ends in these bits and is nearest to r. That is x, if x
//! and r differ by less than 2^(b−2+s); half of what would do, so that r need not be a multiple of
//! 2ˢ itself. docs/wire.md has the proof.

use crate::num::extend;
use crate::peer::ledger::round_down;

/// The bits of a word in which a scalar travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordLength {
    /// Words of 8 bits.
    Bits8,
    /// Words of 16 bits.
    #[default]
    Bits16,
    /// Words of 32 bits.
    Bits32,
    /// Full words: scalars as they are, mass in 64 bits.
    Full,
}

impl WordLength {
    /// All lengths, the shortest first.
    pub const ALL: [Self; 4] = [Self::Bits8, Self::Bits16, Self::Bits32, Self::Full];

    /// The number of bits; that of mass in full words.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits8 => 8,
            Self::Bits16 => 16,
            Self::Bits32 => 32,
            Self::Full => 64,
        }
    }

    /// The number of bytes; that of mass in full words.
    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// The length with this many bits.
    pub fn of_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|length| length.bits() == bits)
    }
}

/// The largest shift of a word: beyond it, numbers are sent in full.
pub(crate) const LARGEST_SHIFT: u32 = 48;

/// The smallest shift with which words of this length can tell numbers apart that differ by at most
/// `bound`, the rounding to a multiple of 2ˢ included. `None` asks for full words.
pub(crate) fn smallest_shift(bound: u128, length: WordLength) -> Option<u32> {
    if length == WordLength::Full {
        return None;
    }
    (0..=LARGEST_SHIFT).find(|&shift| 1u128 << (length.bits() - 2 + shift) > bound + (1 << shift))
}

/// The quotient of a number by 2ˢ, rounded to the nearest, modulo 2^(64−s).
#[inline]
pub(super) fn quotient(number: i64, shift: u32) -> u64 {
    number.wrapping_add((1 << shift) >> 1).cast_unsigned() >> shift
}

/// Appends the words of some numbers: the lowest bits of their quotients by 2ˢ.
pub(crate) fn write_words(length: WordLength, numbers: &[i64], shift: u32, bytes: &mut Vec<u8>) {
    match length {
        WordLength::Bits8 => extend(bytes, numbers, |number| [quotient(number, shift) as u8]),
        WordLength::Bits16 => extend(bytes, numbers, |number| (quotient(number, shift) as u16).to_le_bytes()),
        WordLength::Bits32 => extend(bytes, numbers, |number| (quotient(number, shift) as u32).to_le_bytes()),
        WordLength::Full => extend(bytes, numbers, i64::to_le_bytes),
    }
}

/// Completes words to numbers, from those that the receiver holds.
pub(crate) fn complete_words(length: WordLength, words: &[u8], shift: u32, known: &[i64], numbers: &mut [i64]) {
    let numbers = numbers.iter_mut().zip(known);
    let below = |known: i64| known.cast_unsigned() >> shift;
    match length {
        WordLength::Bits8 => {
            for ((number, &known), &word) in numbers.zip(words) {
                let ahead = word.wrapping_sub(below(known) as u8).cast_signed();
                *number = complete(i64::from(ahead), known, shift);
            }
        }
        WordLength::Bits16 => {
            for ((number, &known), &word) in numbers.zip(words.as_chunks().0) {
                let ahead = u16::from_le_bytes(word).wrapping_sub(below(known) as u16).cast_signed();
                *number = complete(i64::from(ahead), known, shift);
            }
        }
        WordLength::Bits32 => {
            for ((number, &known), &word) in numbers.zip(words.as_chunks().0) {
                let ahead = u32::from_le_bytes(word).wrapping_sub(below(known) as u32).cast_signed();
                *number = complete(i64::from(ahead), known, shift);
            }
        }
        WordLength::Full => {
            for ((number, _), &word) in numbers.zip(words.as_chunks().0) {
                *number = i64::from_le_bytes(word);
            }
        }
    }
}

/// The number that is this many multiples of 2ˢ ahead of the multiple below a known one.
#[inline]
fn complete(ahead: i64, known: i64, shift: u32) -> i64 {
    round_down(known, shift).wrapping_add(ahead << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHORT: [WordLength; 3] = [WordLength::Bits8, WordLength::Bits16, WordLength::Bits32];

    /// What a receiver that holds `known` makes of a number that is sent with this shift.
    fn sent_and_completed(length: WordLength, number: i64, known: i64, shift: u32) -> i64 {
        let mut words = Vec::new();
        write_words(length, &[number], shift, &mut words);
        assert_eq!(words.len(), length.bytes());
        let mut completed = [0];
        complete_words(length, &words, shift, &[known], &mut completed);
        completed[0]
    }

    proptest! {
        /// Every number that is a multiple of 2ˢ is completed from any number nearer than
        /// 2^(b−2+s), also where sums have wrapped around.
        #[test]
        fn numbers_within_the_bound_are_completed(known: i64, away: i64, shift in 0..=LARGEST_SHIFT) {
            for length in SHORT {
                let bits = length.bits() - 2 + shift;
                let away = if bits < 63 { away % (1 << bits) } else { away };
                let number = round_down(known.wrapping_add(away), shift);
                if number.wrapping_sub(known).unsigned_abs().checked_shr(bits).unwrap_or(0) == 0 {
                    prop_assert_eq!(sent_and_completed(length, number, known, shift), number);
                }
            }
        }

        /// The shift that is chosen for a bound lets every number within it be completed, and a
        /// smaller one would not be enough by the rule.
        #[test]
        fn the_shift_for_a_bound_is_enough_and_not_more(bound in 0..(1u64 << 60), share: i64, known: i64) {
            for length in SHORT {
                let Some(shift) = smallest_shift(u128::from(bound), length) else { continue };
                let away = share.checked_rem(bound.cast_signed()).unwrap_or(0);
                for number in [known.wrapping_add(away), known.wrapping_add(bound.cast_signed()), known.wrapping_sub(bound.cast_signed())] {
                    let nearest = (quotient(number, shift) << shift).cast_signed();
                    prop_assert_eq!(sent_and_completed(length, number, known, shift), nearest);
                    let below = round_down(number, shift);
                    prop_assert_eq!(sent_and_completed(length, below, known, shift), below);
                }
                if let Some(less) = shift.checked_sub(1) {
                    prop_assert!(1u128 << (length.bits() - 2 + less) <= u128::from(bound) + (1 << less));
                }
            }
        }

        #[test]
        fn rounding_finds_the_nearest_multiple(number in -(1i64 << 60)..1 << 60, shift in 0..40u32) {
            let (below, nearest) = (round_down(number, shift), (quotient(number, shift) << shift).cast_signed());
            prop_assert!(below <= number && number - below < 1 << shift);
            prop_assert!((nearest - number).abs() <= (1 << shift) / 2 && nearest % (1 << shift) == 0);
        }
    }

    /// At the edges of the window: the last number on either side that must be completed.
    #[test]
    fn numbers_at_the_edge_of_the_bound_are_completed() {
        for length in SHORT {
            for shift in [0, 1, 7, LARGEST_SHIFT - 20] {
                let window = 1i64 << (length.bits() - 2 + shift).min(62);
                for known in [0, -1, 1, i64::MAX, i64::MIN, (1 << shift) - 1] {
                    for away in [window - 1, 1 - window] {
                        let number = round_down(known.wrapping_add(away), shift);
                        let number = if number.wrapping_sub(known) <= -window {
                            number.wrapping_add(1 << shift)
                        } else {
                            number
                        };
                        assert_eq!(
                            sent_and_completed(length, number, known, shift),
                            number,
                            "{length:?} {shift} {known} {away}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn full_words_need_nothing_known() {
        assert_eq!(sent_and_completed(WordLength::Full, -5, 1 << 60, 0), -5);
        assert_eq!(smallest_shift(0, WordLength::Full), None);
        assert_eq!(smallest_shift(u128::MAX >> 1, WordLength::Bits8), None);
        assert_eq!(WordLength::of_bits(16), Some(WordLength::Bits16));
        assert_eq!(WordLength::of_bits(24), None);
    }
}
