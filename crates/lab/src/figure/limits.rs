//! The limits of a chart's vertical axis: most of the lines are seen, whatever a few of them do.

use super::axis::Axis;
use super::curve::{Curve, CurvePoint};

/// The fraction of a line's values at each end that may be beyond the limits.
const BEYOND: f64 = 0.02;
/// The same fraction for bands.
const BEYOND_BAND: f64 = 0.05;
/// Of fewer points than this, each one counts.
const FEW: usize = 10;
/// The fraction by which an axis may become longer at each end to show all lines.
const STRETCH: f64 = 0.25;
/// On a logarithmic axis, which has no zero, bands are followed down to the line divided by this.
const BAND_DEPTH: f64 = 10.0;
/// Values that span a larger factor get a logarithmic axis.
const MANY: f64 = 30.0;
/// The room above all other lines for those that leave, as a fraction of the axis.
const ROOM_TO_LEAVE: f64 = 0.08;

/// Where values are placed before the axis is known.
#[derive(Clone, Copy)]
struct ValueScale {
    logarithmic: bool,
}

/// The axis on which the curves of a metric are drawn.
///
/// Curves that leave with their diverged runs do not stretch the axis, unless there are no others,
/// but there is room to see them leave. Short excursions of the others do not stretch it either:
/// they are cut off.
pub(super) fn vertical(metric: &str, curves: &[Curve]) -> Axis {
    let scale = ValueScale { logarithmic: is_logarithmic(metric, curves) };
    let all_leave = curves.iter().all(|curve| curve.leaves || curve.points.is_empty());
    let counted = |curve: &&Curve| !curve.leaves || all_leave;
    let mut limits = Limits::default();
    for curve in curves {
        let seen = if counted(&curve) { curve.points.len() } else { curve.points.len().min(1) };
        limits.include_ends(scale, &curve.points[..seen]);
    }
    for curve in curves.iter().filter(counted) {
        limits.include_most(scale, &curve.points);
    }
    let whole = Limits::of_lines(scale, curves.iter().filter(counted));
    let axis = limits.stretched_to(whole, scale).axis(scale);
    if all_leave || curves.iter().all(|curve| !curve.leaves) { axis } else { axis.with_room_above(ROOM_TO_LEAVE) }
}

/// Whether values get a logarithmic axis: none is negative, and the positive ones span a large
/// factor. Of curves that leave only the start counts.
pub(super) fn is_logarithmic(metric: &str, curves: &[Curve]) -> bool {
    let all_leave = curves.iter().all(|curve| curve.leaves);
    let counted = |curve: &Curve| if curve.leaves && !all_leave { 1 } else { curve.points.len() };
    let points = curves.iter().flat_map(|curve| curve.points.iter().take(counted(curve)));
    let values = points.map(|point| point.spread.line).filter(|value| value.is_finite());
    let positive = values.clone().filter(|value| *value > 0.0);
    let (least, most) = (positive.clone().fold(f64::INFINITY, f64::min), positive.fold(0.0, f64::max));
    !is_fraction(metric) && most > MANY * least && values.fold(0.0, f64::min) == 0.0
}

/// Whether a metric is a fraction between zero and one, which is shown on a linear axis.
fn is_fraction(metric: &str) -> bool {
    ["accuracy", "auc", "weight_"].iter().any(|start| metric.starts_with(start))
}

impl ValueScale {
    /// The place of a value, if it has one.
    fn place(self, value: f64) -> Option<f64> {
        let place = if self.logarithmic { value.ln() } else { value };
        place.is_finite().then_some(place)
    }

    /// The places of values, sorted.
    fn places(self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut places: Vec<f64> = values.filter_map(|value| self.place(value)).collect();
        places.sort_by(f64::total_cmp);
        places
    }
}

/// The least and the largest place on the axis.
#[derive(Clone, Copy, Debug)]
struct Limits {
    low: f64,
    high: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Limits {
    /// Extends the limits to a place.
    fn include(&mut self, place: f64) {
        (self.low, self.high) = (self.low.min(place), self.high.max(place));
    }

    /// Includes the first and the last point of a line, which are always seen.
    fn include_ends(&mut self, scale: ValueScale, points: &[CurvePoint]) {
        let places = || points.iter().filter_map(|point| scale.place(point.spread.line));
        places().next().into_iter().chain(places().next_back()).for_each(|place| self.include(place));
    }

    /// Includes most of a line and of its band.
    fn include_most(&mut self, scale: ValueScale, points: &[CurvePoint]) {
        let deepest =
            |point: &CurvePoint| if scale.logarithmic { point.spread.line / BAND_DEPTH } else { f64::NEG_INFINITY };
        let lines = scale.places(points.iter().map(|point| point.spread.line));
        let lows = scale.places(points.iter().map(|point| point.spread.low.max(deepest(point))));
        let highs = scale.places(points.iter().map(|point| point.spread.high));
        for (places, beyond) in [(lines, BEYOND), (lows, BEYOND_BAND), (highs, BEYOND_BAND)] {
            // Of many points, at least one at each end may be beyond.
            let cut = if places.len() < FEW { 0 } else { (beyond * places.len() as f64).ceil() as usize };
            let kept = places.get(cut..places.len() - cut).unwrap_or_default();
            kept.first().into_iter().chain(kept.last()).for_each(|place| self.include(*place));
        }
    }

    /// The limits of whole lines.
    fn of_lines<'c>(scale: ValueScale, curves: impl Iterator<Item = &'c Curve>) -> Self {
        let mut limits = Self::default();
        let points = curves.flat_map(|curve| &curve.points);
        points.filter_map(|point| scale.place(point.spread.line)).for_each(|place| limits.include(place));
        limits
    }

    /// The limits, extended to the whole lines where that is little, or where there would be next
    /// to nothing to see otherwise.
    fn stretched_to(self, whole: Self, scale: ValueScale) -> Self {
        let span = self.high - self.low;
        let least = if scale.logarithmic { MANY.ln() } else { 0.0 };
        let may = |beyond: f64| span <= least || beyond <= STRETCH * span;
        Self {
            low: if may(self.low - whole.low) { self.low.min(whole.low) } else { self.low },
            high: if may(whole.high - self.high) { self.high.max(whole.high) } else { self.high },
        }
    }

    /// The axis with these limits.
    fn axis(self, scale: ValueScale) -> Axis {
        match scale.logarithmic {
            true => Axis::logarithmic(self.low.exp(), self.high.exp()),
            false if self.low <= self.high => Axis::linear(self.low, self.high),
            false => Axis::linear(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::band::BandValue;
    use super::*;

    fn curve(leaves: bool, values: &[f64]) -> Curve {
        let point = |(place, &line): (usize, &f64)| {
            let round = 10.0 * place as f64;
            CurvePoint { round, seconds: round, bytes: round, spread: BandValue { line, low: line, high: line } }
        };
        let points = values.iter().enumerate().map(point).collect();
        Curve { label: "a".to_owned(), place: 0, failures: String::new(), leaves, points }
    }

    #[test]
    fn the_axis_is_logarithmic_where_values_have_many_scales() {
        let logarithmic = |metric: &str, values: &[f64]| vertical(metric, &[curve(false, values)]).is_logarithmic();
        assert!(logarithmic("relative_error", &[1.0, 0.1, 0.01]));
        assert!(logarithmic("consensus", &[0.0, 0.5, 0.001]), "agents start together");
        assert!(!logarithmic("relative_error", &[1.0, 0.5]));
        assert!(!logarithmic("consensus", &[0.0, 0.5, 0.4]));
        assert!(!logarithmic("upper", &[1.0, 0.01, -0.1]));
        assert!(!logarithmic("accuracy", &[0.01, 0.9]));
        assert!(!logarithmic("mass_residual", &[0.0, 0.0]));
    }

    #[test]
    fn groups_that_diverged_do_not_stretch_the_axis_much() {
        let (sound, lost) = (curve(false, &[2.5, 1.0]), curve(true, &[3.0, 1e6, f64::INFINITY]));
        let together = vertical("upper", &[sound.clone(), lost.clone()]);
        assert!(together.high > 3.1 && together.high < 3.5 && !together.is_logarithmic(), "{together:?}");
        assert!(vertical("upper", &[lost]).high > 1e5);
        assert!(vertical("upper", &[sound]).high < 2.6);
    }

    #[test]
    fn an_excursion_does_not_squash_the_rest() {
        let mut values: Vec<f64> = (0..500).map(|round| 0.98f64.powi(round)).collect();
        let calm = vertical("relative_error", &[curve(false, &values)]);
        values[40..45].fill(1e40);
        values[60] = 1e-60;
        let disturbed = vertical("relative_error", &[curve(false, &values)]);
        assert!((disturbed.high / calm.high).ln().abs() < 0.5 && (disturbed.low / calm.low).ln().abs() < 0.5);
        values[40..45].fill(5.0);
        assert!(vertical("relative_error", &[curve(false, &values)]).high > 5.0, "a small one is seen");
    }

    #[test]
    fn starts_and_ends_are_always_seen() {
        let values: Vec<f64> = std::iter::once(1e6).chain((0..200).map(|_| 1.0)).chain([1e-6]).collect();
        let axis = vertical("upper", &[curve(false, &values)]);
        assert!(axis.low < 1e-6 && axis.high > 1e6, "{axis:?}");
    }

    #[test]
    fn any_values_have_an_axis() {
        for values in [&[][..], &[0.0], &[f64::INFINITY], &[1.0, f64::INFINITY], &[1e-300, 1e99]] {
            for leaves in [false, true] {
                let axis = vertical("upper", &[curve(leaves, values)]);
                assert!(axis.low < axis.high && (axis.high - axis.low).is_finite(), "{values:?}: {axis:?}");
            }
        }
    }
}
