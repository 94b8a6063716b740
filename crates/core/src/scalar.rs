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

    /// This scalar for a report.
    fn f64(self) -> f64;

    /// `self + a·b`, with one rounding where the target's processors have an instruction for it.
    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, self) } else { self + a * b }
    }

    /// Appends its bytes, the lowest first.
    fn write(self, bytes: &mut Vec<u8>);

    /// The scalar of [`Scalar::BYTES`] bytes; missing ones count as 0.
    fn read(bytes: &[u8]) -> Self;

    /// The total order of IEEE 754, in which a positive NaN is the largest: a maximum never hides one.
    fn largest(self, other: Self) -> Self;
}

impl Scalar for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        f64::from(self)
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self::from_le_bytes(std::array::from_fn(|place| bytes.get(place).copied().unwrap_or_default()))
    }

    fn largest(self, other: Self) -> Self {
        if self.total_cmp(&other).is_lt() { other } else { self }
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn f64(self) -> f64 {
        self
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self::from_le_bytes(std::array::from_fn(|place| bytes.get(place).copied().unwrap_or_default()))
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
