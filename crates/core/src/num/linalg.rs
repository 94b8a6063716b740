//! Kernels: loops over slices that the compiler vectorises.
//!
//! They cannot fail: every slice has the length that was checked when the run was put together.
//! Elementwise kernels give the same bits for any width of the vector units; reductions sum in a
//! fixed number of lanes for the same reason.

use crate::Scalar;

/// Scalars that are worked on together, and partial sums of a reduction: fixed, so that no result
/// depends on the machine's vectors.
const LANES: usize = 4;

/// The inner product `Σ aᵢ bᵢ`.
#[inline]
pub fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::zero(); LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for ((lane, &a), &b) in lanes.iter_mut().zip(a_chunks.remainder()).zip(b_chunks.remainder()) {
        *lane = a * b;
    }
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane].plus(a[lane], b[lane]);
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// The squared norm `‖a‖²`.
pub fn norm_squared<T: Scalar>(a: &[T]) -> T {
    dot(a, a)
}

/// The norm `‖a‖`.
pub fn norm<T: Scalar>(a: &[T]) -> T {
    norm_squared(a).sqrt()
}

/// The squared distance `‖a − b‖²`.
pub fn distance_squared<T: Scalar>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum()
}

/// Adds a multiple: `out += s·a`.
pub fn add_scaled<T: Scalar>(out: &mut [T], s: T, a: &[T]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = out.plus(s, a);
    }
}

/// Adds a vector: `out += a`.
pub fn add<T: Scalar>(out: &mut [T], a: &[T]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out += a;
    }
}

/// Multiplies by a scalar: `out *= s`.
pub fn scale<T: Scalar>(out: &mut [T], s: T) {
    for out in out {
        *out *= s;
    }
}

/// Writes a sum: `out = a + s·b`.
pub fn sum_scaled<T: Scalar>(out: &mut [T], a: &[T], s: T, b: &[T]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a.plus(s, b);
    }
}

/// Rows of which [`weighted_sum`] takes blocks.
pub trait Gather<'a, T: 'a>: Copy {
    /// The first scalars of the k-th row.
    fn row(self, k: usize, len: usize) -> &'a [T];

    /// N scalars of the k-th row, from column `at` on.
    fn block<const N: usize>(self, k: usize, at: usize) -> &'a [T; N];
}

/// `out = Σₖ wₖ rowₖ`, less another row if there is one.
///
/// Sums are taken from left to right, for a block of columns at a time that stays in registers. The
/// last block reaches back into the one before it and finds the same again: no bit depends on the
/// blocks.
pub fn weighted_sum<'a, T: Scalar>(out: &mut [T], weights: &[f64], rows: impl Gather<'a, T>, less: Option<&[T]>) {
    // An agent and one peer: rings and one-peer graphs, where a plain loop along the rows is
    // fastest.
    if let [a, b] = *weights {
        return pair(out, (T::of(a), rows.row(0, out.len())), (T::of(b), rows.row(1, out.len())), less);
    }
    if out.len() >= 2 * TILE {
        return tiles(out, weights, rows, less);
    }
    let mut done = 0;
    while done + 32 <= out.len() {
        done += columns::<T, 32>(out, done, weights, rows, less);
    }
    while done < out.len() {
        done += match (out.len(), out.len() - done) {
            (16.., 9..) => columns::<T, 16>(out, done, weights, rows, less),
            (8.., 5..) => columns::<T, 8>(out, done, weights, rows, less),
            (4.., _) => columns::<T, 4>(out, done, weights, rows, less),
            _ => columns::<T, 1>(out, done, weights, rows, less),
        };
    }
}

/// [`weighted_sum`] of two rows.
fn pair<T: Scalar>(out: &mut [T], (a, x): (T, &[T]), (b, y): (T, &[T]), less: Option<&[T]>) {
    let sum = |x: T, y: T| (a * x).plus(b, y);
    let terms = out.iter_mut().zip(x).zip(y);
    match less {
        Some(less) => terms.zip(less).for_each(|(((out, &x), &y), &less)| *out = sum(x, y) - less),
        None => terms.for_each(|((out, &x), &y)| *out = sum(x, y)),
    }
}

/// Columns that are worked on together where rows are long: a piece of the sum that stays in the
/// fastest cache, and pieces of rows that are worth fetching ahead.
const TILE: usize = 1024;

/// [`weighted_sum`] of long rows, one after the other for a tile of columns at a time. The sums are
/// the same, in the same order.
fn tiles<'a, T: Scalar>(out: &mut [T], weights: &[f64], rows: impl Gather<'a, T>, less: Option<&[T]>) {
    let len = out.len();
    for (tile, out) in out.chunks_mut(TILE).enumerate() {
        let columns = tile * TILE..(tile * TILE + out.len());
        for (k, &weight) in weights.iter().enumerate() {
            let (weight, row) = (T::of(weight), &rows.row(k, len)[columns.clone()]);
            if k == 0 {
                out.iter_mut().zip(row).for_each(|(out, &value)| *out = T::zero().plus(weight, value));
            } else {
                add_scaled(out, weight, row);
            }
        }
        if let Some(less) = less {
            out.iter_mut().zip(&less[columns]).for_each(|(out, &less)| *out -= less);
        }
    }
}

/// One block of N columns from `start` on, or the last N where there are fewer; returns how many of
/// them are new.
#[inline(always)]
fn columns<'a, T: Scalar, const N: usize>(
    out: &mut [T],
    start: usize,
    weights: &[f64],
    rows: impl Gather<'a, T>,
    less: Option<&[T]>,
) -> usize {
    let at = start.min(out.len() - N);
    let mut sum = [T::zero(); N];
    for (k, &weight) in weights.iter().enumerate() {
        let row = rows.block::<N>(k, at);
        for lane in 0..N {
            sum[lane] = sum[lane].plus(T::of(weight), row[lane]);
        }
    }
    if let Some(less) = less {
        for (sum, &less) in sum.iter_mut().zip(&less[at..at + N]) {
            *sum -= less;
        }
    }
    out[at..at + N].copy_from_slice(&sum);
    at + N - start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl<'a> Gather<'a, f64> for &'a [Vec<f64>] {
        fn row(self, k: usize, len: usize) -> &'a [f64] {
            &self[k][..len]
        }

        fn block<const N: usize>(self, k: usize, at: usize) -> &'a [f64; N] {
            self[k][at..].first_chunk().unwrap()
        }
    }

    proptest! {
        #[test]
        fn a_weighted_sum_has_the_same_bits_however_columns_are_grouped(
            rows in prop::collection::vec(prop::collection::vec(-1e3..1e3f64, 3 * TILE), 1..9),
            width in prop_oneof![1..80usize, TILE..3 * TILE],
            subtract: bool,
        ) {
            let weights: Vec<f64> = (0..rows.len()).map(|k| (k as f64 + 0.3).sin()).collect();
            let less = subtract.then(|| vec![0.7; width]);
            let mut together = vec![f64::NAN; width];
            weighted_sum(&mut together, &weights, rows.as_slice(), less.as_deref());
            for column in 0..width {
                let sum = rows.iter().zip(&weights).fold(0.0, |sum: f64, (row, weight)| sum.plus(*weight, row[column]));
                prop_assert_eq!(together[column], sum - if subtract { 0.7 } else { 0.0 });
            }
        }

        #[test]
        fn dot_is_the_sum_of_products(a in prop::collection::vec(-1e3..1e3f64, 0..40)) {
            let b: Vec<f64> = a.iter().map(|a| a.sin()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&a, &b) - plain).abs() <= 1e-12 * (1.0 + norm(&a) * norm(&b)));
        }
    }
}
