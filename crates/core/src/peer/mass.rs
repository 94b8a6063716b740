//! Mass as whole numbers: what is added and subtracted in whole units is conserved exactly.

use crate::Scalar;

/// The unit of mass, 2⁻ᑫ, in which pushed scalars are booked and sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    per_one: f64,
}

impl Unit {
    /// More units than this are an overflow: sums of two still fit into 64 bits.
    pub const LIMIT: i64 = 1 << 62;

    /// Units of 2⁻ᑫ.
    pub fn new(q: u32) -> Self {
        Self { per_one: f64::from(q.min(60)).exp2() }
    }

    /// The nearest number of units; none for a scalar that is not finite or too large.
    pub fn units<T: Scalar>(self, scalar: T) -> Option<i64> {
        let units = (scalar.f64() * self.per_one).round();
        (units.abs() < Self::LIMIT as f64).then_some(units as i64)
    }

    /// So many units as a scalar.
    pub fn scalar<T: Scalar>(self, units: i64) -> T {
        T::of(units as f64 / self.per_one)
    }
}

/// The default: 2⁻⁴⁰, about 1e-12, with room up to 4 million.
impl Default for Unit {
    fn default() -> Self {
        Self::new(40)
    }
}

/// A push weight, as a part of 2³².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u32);

impl Fraction {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The nearest to a weight between 0 and 1.
    pub fn of(weight: f64) -> Self {
        Self((weight * 2f64.powi(32)).round() as u32)
    }

    /// This part of so many units, rounded toward zero: rounded down, single units would circulate for ever.
    pub fn of_units(self, units: i64) -> i64 {
        (i128::from(units) * i128::from(self.0) / (1 << 32)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_units_is_refused() {
        let unit = Unit::default();
        for refused in [f64::NAN, f64::INFINITY, 1e7, -1e300] {
            assert_eq!(unit.units(refused), None, "{refused}");
        }
        assert_eq!(unit.units(-1.5), Some(-3 << 39));
        assert_eq!(unit.scalar::<f32>(3 << 39), 1.5);
    }

    #[test]
    fn a_share_is_rounded_toward_zero() {
        let third = Fraction::of(1.0 / 3.0);
        assert_eq!((third.of_units(5), third.of_units(-5), third.of_units(2), third.of_units(-1)), (1, -1, 0, 0));
        assert_eq!(Fraction::of(0.5).of_units(Unit::LIMIT), Unit::LIMIT / 2);
    }
}
