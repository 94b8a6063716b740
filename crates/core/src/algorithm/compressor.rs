//! Compressors: what is left of a vector when few bytes may be sent.

use std::cmp::Ordering;

use crate::rng::{Purpose, Stream};
use crate::settings::SettingsReader;
use crate::{Oracle, Scalar};

/// A way to send a vector in few bytes. All of these shrink the error, `‖C(q) − q‖ < ‖q‖` on
/// average, which is what methods with references need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compressor {
    /// The largest coordinates, as many as this share of all.
    Top(f64),
    /// Random coordinates, as many as this share of all, chosen anew for each vector.
    Random(f64),
    /// All coordinates as multiples of the largest, rounded at random to words of this many bits
    /// (Alistarh, Grubic, Li, Tomioka, Vojnović: *QSGD*, NeurIPS 2017, with the largest norm).
    Rounded(u32),
}

impl Compressor {
    /// The bytes that name a coordinate.
    const INDEX: usize = 4;

    /// Reads which one to use.
    pub(super) fn read(keys: &mut SettingsReader<'_>) -> Self {
        let share = keys.number("share", 0.1, 0.0..=1.0, "the share of coordinates that top-k and random-k send");
        let bits = keys.whole("bits", 4, 2..=16, "the bits of each coordinate that is rounded");
        let all =
            [("top-k", Self::Top(share)), ("random-k", Self::Random(share)), ("round", Self::Rounded(bits as u32))];
        keys.choice("compressor", &all, "what is sent: the largest coordinates, random ones, or all rounded")
    }

    /// The bytes of a vector of this length with scalars of this many bytes. Random coordinates are
    /// known to those who know the seed.
    pub(super) fn bytes(self, len: usize, scalar: usize) -> usize {
        match self {
            Self::Top(share) => count(len, share) * (scalar + Self::INDEX),
            Self::Random(share) => count(len, share) * scalar,
            Self::Rounded(bits) => (len * bits as usize).div_ceil(8) + scalar,
        }
    }

    /// Replaces a vector by what is left of it. The number tells the vectors of a round apart.
    pub(super) fn compress<T: Scalar>(self, vector: &mut [T], number: u32, oracle: &mut Oracle<'_, T>) {
        let mut stream = Stream::new(oracle.seed, oracle.agent, oracle.round, Purpose::Compression(number));
        match self {
            Self::Top(share) => keep_largest(vector, count(vector.len(), share), oracle.selection()),
            Self::Random(share) => keep_random(vector, count(vector.len(), share), &mut stream),
            Self::Rounded(bits) => round(vector, bits, &mut stream),
        }
    }
}

/// The coordinates that are sent: at least one.
fn count(len: usize, share: f64) -> usize {
    ((len as f64 * share).round() as usize).clamp(1, len.max(1))
}

/// Sets all but the largest coordinates to zero; of equal ones, the first stay.
fn keep_largest<T: Scalar>(vector: &mut [T], kept: usize, magnitudes: &mut Vec<f64>) {
    if kept >= vector.len() {
        return;
    }
    magnitudes.clear();
    magnitudes.extend(vector.iter().map(|value| value.f64().abs()));
    let (larger, &mut smallest, _) = magnitudes.select_nth_unstable_by(kept - 1, |a, b| b.total_cmp(a));
    let mut equal = kept - larger.iter().filter(|value| value.total_cmp(&smallest).is_gt()).count();
    for value in vector {
        match value.f64().abs().total_cmp(&smallest) {
            Ordering::Greater => {}
            Ordering::Equal if equal > 0 => equal -= 1,
            _ => *value = T::zero(),
        }
    }
}

/// Sets all but some random coordinates to zero, each choice of them equally likely.
fn keep_random<T: Scalar>(vector: &mut [T], kept: usize, stream: &mut Stream) {
    let (mut left, mut wanted) = (vector.len(), kept);
    for value in vector {
        if stream.below(left) < wanted {
            wanted -= 1;
        } else {
            *value = T::zero();
        }
        left -= 1;
    }
}

/// Rounds each coordinate up or down to a multiple of the largest, right on average.
fn round<T: Scalar>(vector: &mut [T], bits: u32, stream: &mut Stream) {
    let largest = vector.iter().fold(0.0, |largest: f64, value| largest.max(value.f64().abs()));
    let unit = largest / f64::from((1u32 << (bits - 1)) - 1);
    if unit != 0.0 {
        for value in vector {
            *value = T::of((value.f64() / unit + stream.open01()).floor() * unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(len: usize) -> Vec<f64> {
        Stream::new(1, 0, 0, Purpose::Other(0)).normals(len, 1.0)
    }

    fn sent(vector: &[f64]) -> usize {
        vector.iter().filter(|value| **value != 0.0).count()
    }

    #[test]
    fn the_largest_coordinates_stay() {
        let (before, mut after) = (vector(100), vector(100));
        keep_largest(&mut after, 10, &mut Vec::new());
        assert_eq!(sent(&after), 10);
        let smallest = after.iter().filter(|value| **value != 0.0).fold(f64::INFINITY, |least, v| least.min(v.abs()));
        assert_eq!(before.iter().filter(|value| value.abs() >= smallest).count(), 10);
        let mut equal = [1.0, -1.0, 1.0, 1.0, f64::NAN];
        keep_largest(&mut equal, 3, &mut Vec::new());
        assert_eq!(equal[..4], [1.0, -1.0, 0.0, 0.0], "of equal ones the first stay");
        assert!(equal[4].is_nan(), "what is not a number is never hidden");
    }

    #[test]
    fn random_coordinates_are_as_many_as_asked_for_and_all_get_their_turn() {
        let mut turns = [0; 20];
        for round in 0..2000 {
            let mut after = vec![1.0; 20];
            keep_random(&mut after, 5, &mut Stream::new(1, 0, round, Purpose::Compression(0)));
            assert_eq!(sent(&after), 5);
            turns.iter_mut().zip(&after).for_each(|(turns, value)| *turns += usize::from(*value != 0.0));
        }
        assert!(turns.iter().all(|&turns| (420..580).contains(&turns)), "{turns:?}");
    }

    #[test]
    fn rounding_is_right_on_average_and_fits_into_its_bits() {
        let before = vector(50);
        let mut mean = vec![0.0; 50];
        for turn in 0..4000 {
            let mut after = before.clone();
            round(&mut after, 3, &mut Stream::new(1, 0, turn, Purpose::Compression(0)));
            let unit = before.iter().fold(0.0, |largest: f64, value| largest.max(value.abs())) / 3.0;
            assert!(after.iter().all(|value| (value / unit).abs().round() <= 3.0));
            mean.iter_mut().zip(&after).for_each(|(mean, value)| *mean += value / 4000.0);
        }
        assert!(before.iter().zip(&mean).all(|(before, mean)| (before - mean).abs() < 0.05));
    }
}
