//! The two scalars everything is generic over.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{AddAssign, DivAssign, MulAssign, SubAssign};

/// `f32` or `f64`: the only generic parameter of the project.
pub trait Scalar:
    num_traits::Float
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// Bytes of one scalar, in memory and as counted on the wire.
    const BYTES: usize = size_of::<Self>();

    /// The nearest scalar to a setting, which is always written as `f64`.
    fn of(value: f64) -> Self;

    /// This scalar as `f64`, for reports.
    fn f64(self) -> f64;

    /// `self + a·b`, with one rounding where the target's processors have an instruction for it.
    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, self) } else { self + a * b }
    }

    /// Appends the bytes of this scalar, the lowest first.
    fn write(self, bytes: &mut Vec<u8>);

    /// Appends the bytes of many scalars.
    fn write_all(scalars: &[Self], bytes: &mut Vec<u8>);

    /// The scalar of [`Scalar::BYTES`] bytes; missing ones count as 0.
    fn read(bytes: &[u8]) -> Self;

    /// Scalars as what they are, for those who do something else for each kind, such as the fast
    /// products of matrices.
    fn typed(slice: &[Self]) -> Typed<&[f32], &[f64]>;

    /// A slice of this scalar as one of `f32` or of `f64`, to be written.
    fn typed_mut(slice: &mut [Self]) -> Typed<&mut [f32], &mut [f64]>;

    /// The total order of IEEE 754, in which a positive NaN is the largest: a maximum never hides
    /// one.
    fn largest(self, other: Self) -> Self;
}

/// One of two things, by the scalar in use.
#[derive(Clone, Copy, Debug)]
pub enum Typed<S, D> {
    /// The value for `f32`.
    Single(S),
    /// The value for `f64`.
    Double(D),
}

impl Scalar for f32 {
    fn typed(slice: &[Self]) -> Typed<&[f32], &[f64]> {
        Typed::Single(slice)
    }

    fn typed_mut(slice: &mut [Self]) -> Typed<&mut [f32], &mut [f64]> {
        Typed::Single(slice)
    }

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    #[inline]
    fn write_all(scalars: &[Self], bytes: &mut Vec<u8>) {
        extend(bytes, scalars, Self::to_le_bytes);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        match bytes.first_chunk() {
            Some(bytes) => Self::from_le_bytes(*bytes),
            None => Self::from_le_bytes(std::array::from_fn(|place| bytes.get(place).copied().unwrap_or_default())),
        }
    }

    fn largest(self, other: Self) -> Self {
        if self.total_cmp(&other).is_lt() { other } else { self }
    }
}

impl Scalar for f64 {
    fn typed(slice: &[Self]) -> Typed<&[f32], &[f64]> {
        Typed::Double(slice)
    }

    fn typed_mut(slice: &mut [Self]) -> Typed<&mut [f32], &mut [f64]> {
        Typed::Double(slice)
    }

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        self
    }

    #[inline]
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    #[inline]
    fn write_all(scalars: &[Self], bytes: &mut Vec<u8>) {
        extend(bytes, scalars, Self::to_le_bytes);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        match bytes.first_chunk() {
            Some(bytes) => Self::from_le_bytes(*bytes),
            None => Self::from_le_bytes(std::array::from_fn(|place| bytes.get(place).copied().unwrap_or_default())),
        }
    }

    fn largest(self, other: Self) -> Self {
        if self.total_cmp(&other).is_lt() { other } else { self }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Appends the bytes of many values of the same length, all at once: one after the other would look
/// for room each time.
#[inline]
pub(crate) fn extend<V: Copy, const N: usize>(bytes: &mut Vec<u8>, values: &[V], of: impl Fn(V) -> [u8; N]) {
    let start = bytes.len();
    bytes.resize(start + values.len() * N, 0);
    for (place, &value) in bytes[start..].as_chunks_mut().0.iter_mut().zip(values) {
        *place = of(value);
    }
}
