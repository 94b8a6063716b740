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

    fn largest(self, other: Self) -> Self {
        if self.total_cmp(&other).is_lt() { other } else { self }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
