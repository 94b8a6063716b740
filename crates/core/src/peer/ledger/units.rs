//! Mass as whole numbers of a unit: sums of them are exact, in any order, so mass is conserved
//! exactly.

use crate::Scalar;

/// The unit of mass, 2⁻ᑫ, in which pushed scalars are booked and sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    per_one: f64,
}

impl Unit {
    /// The largest number of units that can be booked. The sum of two such numbers still fits into
    /// 64 bits.
    pub const LIMIT: i64 = 1 << 62;

    /// The unit 2⁻ᑫ.
    pub fn new(q: u32) -> Self {
        Self { per_one: f64::from(q.min(60)).exp2() }
    }

    /// The number of units that is nearest to a scalar, or `None` if that is not finite or too
    /// large.
    #[inline]
    pub fn units<T: Scalar>(self, scalar: T) -> Option<i64> {
        let exact = scalar.f64() * self.per_one;
        let whole = exact as i64;
        // Rounds halves away from zero without a call of `round`: x86 has no instruction for that
        // rounding. Numbers beyond 2⁵³ have no rest, except those that do not fit into 64 bits.
        let rest = exact - whole as f64;
        let away = i64::from(rest >= 0.5) - i64::from(rest <= -0.5);
        let units = whole.saturating_add(away);
        (exact.abs() < Self::LIMIT as f64).then_some(units)
    }

    /// A number of units that is not below this size.
    pub fn at_most(self, size: f64) -> u64 {
        // Larger numbers than there are become the largest.
        (size * self.per_one * (1.0 + f64::EPSILON)).ceil() as u64
    }

    /// The scalar that a number of units stands for.
    #[inline]
    pub fn scalar<T: Scalar>(self, units: i64) -> T {
        T::of(units as f64 / self.per_one)
    }
}

/// 2⁻⁴⁰, about 1e-12, with room up to 4 million.
impl Default for Unit {
    fn default() -> Self {
        Self::new(40)
    }
}

/// A push weight as a number of parts of 2³², so that shares are computed in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u32);

impl Fraction {
    /// The weight of a peer that gets no share.
    pub const ZERO: Self = Self(0);

    /// The fraction that is nearest to a weight between 0 and 1.
    pub fn of(weight: f64) -> Self {
        Self((weight * 2f64.powi(32)).round() as u32)
    }

    /// This part of a number of units, rounded toward zero. Rounded down, a share of −1 unit would
    /// be −1 unit, and single units would circulate for ever.
    #[inline]
    pub fn of_units(self, units: i64) -> i64 {
        let (size, part) = (units.unsigned_abs(), u64::from(self.0));
        // Two products of 32 by 32 bits, which can be vectorised, instead of one of 128 bits.
        let share = (size >> 32) * part + (((size & u64::from(u32::MAX)) * part) >> 32);
        if units < 0 { share.cast_signed().wrapping_neg() } else { share.cast_signed() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn a_share_is_the_product_of_128_bits(units in -Unit::LIMIT..=Unit::LIMIT, part: u32) {
            let product = i128::from(units) * i128::from(part) / (1 << 32);
            prop_assert_eq!(i128::from(Fraction(part).of_units(units)), product);
        }

        #[test]
        fn units_are_the_nearest_halves_away_from_zero(scalar in -4.2e6..4.2e6, halves in -1_000_000..1_000_000) {
            let unit = Unit::new(20);
            for scalar in [scalar, f64::from(halves) / 2.0 / 2f64.powi(20)] {
                prop_assert_eq!(unit.units(scalar), Some((scalar * 2f64.powi(20)).round() as i64));
            }
        }
    }
}
