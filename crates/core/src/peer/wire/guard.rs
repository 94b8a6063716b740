//! The guard of a chunk: what a receiver compares before it believes the numbers to which it has
//! completed words.
//!
//! A word that is completed to a wrong number is off by a multiple of 2^(b+s), up or down, as all
//! others of its chunk may be. In a plain sum two of them could make up for each other, so each
//! place has a weight.

use super::modulo::quotient;

/// The largest number of scalars of a chunk, and so the number of places that have a weight.
pub(crate) const CHUNK: usize = 1024;

/// The sum of the quotients of some numbers by 2ˢ, rounded to the nearest, each times a weight of
/// its place; it wraps around.
pub(crate) fn guard(numbers: &[i64], shift: u32) -> u64 {
    let weighted = numbers.iter().zip(&WEIGHTS).map(|(number, &weight)| {
        let (quotient, weight) = (quotient(*number, shift), u64::from(weight));
        // The product in its lowest 64 bits, from two that can be vectorised.
        let (low, high) = (quotient & u64::from(u32::MAX), quotient >> 32);
        (low * weight).wrapping_add((high * weight) << 32)
    });
    weighted.fold(0, u64::wrapping_add)
}

/// The weights of the places of a chunk: the upper halves of multiples of 2⁶⁴ divided by the golden
/// ratio, made odd.
const WEIGHTS: [u32; CHUNK] = {
    let (mut weights, mut place) = ([0; CHUNK], 0);
    while place < CHUNK {
        weights[place] = ((place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1;
        place += 1;
    }
    weights
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Words of 8 bits that are wrong in two places, by the same multiple up and down, are
        /// found, whatever the shift.
        #[test]
        fn wrong_words_do_not_make_up_for_each_other(
            numbers in prop::collection::vec(any::<i64>(), 2..CHUNK),
            places: (prop::sample::Index, prop::sample::Index),
            off in 1..100i64,
            shift in 0..=48u32,
        ) {
            let (one, other) = (places.0.index(numbers.len()), places.1.index(numbers.len()));
            let mut wrong = numbers.clone();
            wrong[one] = wrong[one].wrapping_add(off << 8 << shift);
            prop_assert_ne!(guard(&wrong, shift), guard(&numbers, shift));
            wrong[other] = wrong[other].wrapping_sub(off << 8 << shift);
            prop_assert_eq!(guard(&wrong, shift) == guard(&numbers, shift), one == other);
        }
    }

    #[test]
    fn weights_are_odd_and_all_different() {
        let mut weights = WEIGHTS.to_vec();
        weights.sort_unstable();
        weights.dedup();
        assert!(weights.len() == CHUNK && weights.iter().all(|weight| weight % 2 == 1));
    }
}
