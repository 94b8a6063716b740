//! Mass as whole numbers of a unit: sums of them are exact, in any order, so mass is conserved
//! exactly.

use crate::Scalar;

/// The unit of mass, 2⁻ᑫ, in which pushed scalars are booked and sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    per_one: f64,
    one: f64,
}

impl Unit {
    /// The largest number of units that can be booked. The sum of two such numbers still fits into
    /// 64 bits.
    pub const LIMIT: i64 = 1 << 62;

    /// The unit 2⁻ᑫ.
    pub fn new(q: u32) -> Self {
        let per_one = f64::from(q.min(60)).exp2();
        Self { per_one, one: 1.0 / per_one }
    }

    /// The number of units that is nearest to a scalar, the even one of two, or `None` if that is
    /// not finite or too large.
    #[inline]
    pub fn units<T: Scalar>(self, scalar: T) -> Option<i64> {
        let exact = (scalar.f64() * self.per_one).round_ties_even();
        (exact.abs() < Self::LIMIT as f64).then_some(exact as i64)
    }

    /// Fills `units` with those of some scalars, 0 for those that have none, and returns whether
    /// all have.
    pub fn all_units<T: Scalar>(self, scalars: &[T], units: &mut [i64]) -> bool {
        // A sum with this number has whole numbers for its last bits: without instructions that
        // convert many numbers at once, adding is the fastest way to round them.
        const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
        let mut small = true;
        for (units, scalar) in units.iter_mut().zip(scalars) {
            let exact = scalar.f64() * self.per_one;
            small &= exact.abs() < (1u64 << 51) as f64;
            *units = (exact + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()).cast_signed();
        }
        small || self.all_units_of_any_size(scalars, units)
    }

    #[cold]
    fn all_units_of_any_size<T: Scalar>(self, scalars: &[T], units: &mut [i64]) -> bool {
        let mut all = true;
        for (units, &scalar) in units.iter_mut().zip(scalars) {
            let found = self.units(scalar);
            all &= found.is_some();
            *units = found.unwrap_or_default();
        }
        all
    }

    /// A number of units that is not below this size.
    pub fn at_most(self, size: f64) -> u64 {
        // Larger numbers than there are become the largest.
        (size * self.per_one * (1.0 + f64::EPSILON)).ceil() as u64
    }

    /// The scalar that a number of units stands for.
    #[inline]
    pub fn scalar<T: Scalar>(self, units: i64) -> T {
        T::of(nearest_f64(units) * self.one)
    }
}

/// 2⁻⁴⁰, about 1e-12, with room up to 4 million.
impl Default for Unit {
    fn default() -> Self {
        Self::new(40)
    }
}

/// The multiple of 2ˢ below a number of units, or the number itself.
#[inline]
pub(crate) fn round_down(units: i64, shift: u32) -> i64 {
    units & (-1 << shift)
}

/// The floating-point number that is nearest to a whole one, as `as` has it, from two halves of 32
/// bits that become the last bits of large powers of two: vector units without an instruction for
/// that conversion do many at once in this way.
#[inline]
fn nearest_f64(whole: i64) -> f64 {
    let bits = whole.cast_unsigned();
    let low = f64::from_bits(bits & u64::from(u32::MAX) | 0x4330_0000_0000_0000); // 2⁵² + low
    let high = f64::from_bits((bits >> 32) ^ 0x4530_0000_8000_0000); // 2⁸⁴ + 2⁶³ + high·2³²
    (high - f64::from_bits(0x4530_0000_8010_0000)) + low // 2⁸⁴ + 2⁶³ + 2⁵²
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
        let share = self.of_size(units.unsigned_abs()).cast_signed();
        if units < 0 { share.wrapping_neg() } else { share }
    }

    /// This part of a number of units without sign, rounded down.
    #[inline]
    pub fn of_size(self, size: u64) -> u64 {
        let part = u64::from(self.0);
        // Two products of 32 by 32 bits, which can be vectorised, instead of one of 128 bits.
        (size >> 32) * part + (((size & u64::from(u32::MAX)) * part) >> 32)
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
        fn units_are_the_nearest_the_even_one_of_two(scalar in -4.2e6..4.2e6, halves in -1_000_000..1_000_000) {
            let unit = Unit::new(20);
            for scalar in [scalar, f64::from(halves) / 2.0 / 2f64.powi(20)] {
                prop_assert_eq!(unit.units(scalar), Some((scalar * 2f64.powi(20)).round_ties_even() as i64));
            }
        }

        /// Many at once are the same as one by one, also if some are large, or none at all.
        #[test]
        fn units_of_many_are_those_of_each(bits in prop::collection::vec(any::<f64>(), 1..70), few in -9.0..9.0) {
            let unit = Unit::default();
            for scale in [1.0, 1e-300, 1e300] {
                let scalars: Vec<f64> = bits.iter().map(|scalar| scalar * scale).chain([few, few / 3e12]).collect();
                for scalars in [&scalars[..], &scalars[bits.len()..]] {
                    let each: Vec<_> = scalars.iter().map(|&scalar| unit.units(scalar)).collect();
                    let mut units = vec![7; scalars.len()];
                    prop_assert_eq!(unit.all_units(scalars, &mut units), each.iter().all(Option::is_some));
                    prop_assert_eq!(units, each.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>());
                }
            }
        }

        #[test]
        fn whole_numbers_become_the_nearest_floating_point_ones(any: i64, bits in 0..64u32) {
            for whole in [any, any >> bits, i64::MIN, i64::MAX, 0, -1] {
                prop_assert_eq!(nearest_f64(whole).to_bits(), (whole as f64).to_bits());
            }
        }
    }
}
