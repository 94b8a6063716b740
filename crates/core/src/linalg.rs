//! Kernels: loops over slices that the compiler vectorises.
//!
//! They cannot fail: every slice has the length that was checked when the run was put together. Elementwise kernels give the
//! same bits for any width of the vector units; reductions sum in a fixed number of lanes for the same reason.

use crate::Scalar;

/// Partial sums of a reduction: fixed, so that the result does not depend on the machine's vectors.
const LANES: usize = 8;

/// `Σ aᵢ bᵢ`.
pub fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::zero(); LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: T = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(&a, &b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.into_iter().sum::<T>() + tail
}

/// `‖a‖²`.
pub fn norm_squared<T: Scalar>(a: &[T]) -> T {
    dot(a, a)
}

/// `‖a‖`.
pub fn norm<T: Scalar>(a: &[T]) -> T {
    norm_squared(a).sqrt()
}

/// `‖a − b‖²`.
pub fn distance_squared<T: Scalar>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum()
}

/// `out += s·a`.
pub fn add_scaled<T: Scalar>(out: &mut [T], s: T, a: &[T]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out += s * a;
    }
}

/// `out += a`.
pub fn add<T: Scalar>(out: &mut [T], a: &[T]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out += a;
    }
}

/// `out *= s`.
pub fn scale<T: Scalar>(out: &mut [T], s: T) {
    for out in out {
        *out *= s;
    }
}

/// `out = a + s·b`.
pub fn sum_scaled<T: Scalar>(out: &mut [T], a: &[T], s: T, b: &[T]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a + s * b;
    }
}

/// `out = Σₖ wₖ rowₖ`, or `out += …` when `onto` is set: summed from left to right, so that grouping terms differently does not change a bit.
pub fn combine<T: Scalar, const K: usize>(out: &mut [T], onto: bool, weights: [T; K], rows: [&[T]; K]) {
    let len = out.len();
    let rows = rows.map(|row| &row[..len]);
    if onto {
        for i in 0..len {
            out[i] = (0..K).fold(out[i], |sum, k| sum + weights[k] * rows[k][i]);
        }
    } else {
        for i in 0..len {
            out[i] = (1..K).fold(weights[0] * rows[0][i], |sum, k| sum + weights[k] * rows[k][i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn combine_gives_the_same_bits_however_terms_are_grouped(
            rows in prop::collection::vec(prop::collection::vec(-1e3..1e3f64, 13), 4),
            w in prop::collection::vec(-2.0..2.0f64, 4),
        ) {
            let (mut together, mut apart) = ([0.0; 13], [0.0; 13]);
            combine(&mut together, false, [w[0], w[1], w[2], w[3]], [&rows[0], &rows[1], &rows[2], &rows[3]]);
            combine(&mut apart, false, [w[0]], [&rows[0]]);
            combine(&mut apart, true, [w[1], w[2]], [&rows[1], &rows[2]]);
            combine(&mut apart, true, [w[3]], [&rows[3]]);
            prop_assert_eq!(together, apart);
        }

        #[test]
        fn dot_is_the_sum_of_products(a in prop::collection::vec(-1e3..1e3f64, 0..40)) {
            let b: Vec<f64> = a.iter().map(|a| a.sin()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&a, &b) - plain).abs() <= 1e-12 * (1.0 + norm(&a) * norm(&b)));
        }
    }
}
