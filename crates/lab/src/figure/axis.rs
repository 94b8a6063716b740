//! One axis of a chart: where values are placed, and which of them are marked.

use super::number;

/// An axis from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    scale: AxisScale,
    unit: AxisUnit,
}

/// A marked value with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// The unit of an axis, which decides how its numbers are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AxisUnit {
    /// Numbers without a unit.
    Plain,
    /// Numbers of bytes, with prefixes such as k and M.
    Bytes,
}

/// Whether an axis is linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AxisScale {
    Linear,
    Logarithmic,
}

impl Axis {
    /// The largest number of intervals between marked values, in the order in which they are tried.
    const STEPS: [f64; 7] = [6.5, 5.0, 4.0, 3.0, 2.0, 1.5, 1.0];
    /// One in this many powers of ten is marked, in the order in which they are tried.
    const STRIDES: [i32; 8] = [1, 2, 3, 5, 10, 20, 50, 100];
    /// The margin at both ends, as a fraction of the whole.
    const MARGIN: f64 = 0.04;

    /// A linear axis from zero to this value.
    pub(super) fn up_to(high: f64, unit: AxisUnit) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        Self { low: 0.0, high, scale: AxisScale::Linear, unit }
    }

    /// A linear axis with a margin, which does not go below zero if no value does.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        let extent = if high > low { high - low } else { 2.0 * low.abs().max(0.5) };
        let margin = Self::MARGIN.max(if high > low { 0.0 } else { 0.5 }) * extent;
        let bottom = if low >= 0.0 { (low - margin).max(0.0) } else { low - margin };
        Self { low: bottom, high: high + margin, scale: AxisScale::Linear, unit: AxisUnit::Plain }
    }

    /// A logarithmic axis with a margin, between two positive values.
    pub(super) fn logarithmic(low: f64, high: f64) -> Self {
        let margin = ((high.ln() - low.ln()) * Self::MARGIN).exp();
        Self { low: low / margin, high: high * margin, scale: AxisScale::Logarithmic, unit: AxisUnit::Plain }
    }

    /// The axis, longer by this fraction at its high end.
    pub(super) fn with_room_above(self, part: f64) -> Self {
        let high = match self.scale {
            AxisScale::Linear => self.high + part * (self.high - self.low),
            AxisScale::Logarithmic => self.high * (part * (self.high.ln() - self.low.ln())).exp(),
        };
        Self { high, ..self }
    }

    /// Whether the axis is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.scale == AxisScale::Logarithmic
    }

    /// The place of a value: 0 at the low end, 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            AxisScale::Logarithmic => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        }
    }

    /// The values to mark on an axis of this length, where `room` is the length that a label takes.
    pub(super) fn ticks(&self, length: f64, room: impl Fn(&str) -> f64) -> Vec<Tick> {
        let fit = |ticks: &Vec<Tick>| {
            ticks.windows(2).all(|pair| {
                let apart = length * (self.place(pair[1].value) - self.place(pair[0].value));
                apart >= f64::midpoint(room(&pair[0].label), room(&pair[1].label))
            })
        };
        let candidates: Vec<Vec<Tick>> = match self.scale {
            AxisScale::Linear => Self::STEPS.map(|steps| self.linear_ticks(steps)).into(),
            AxisScale::Logarithmic => self.logarithmic_candidates(),
        };
        candidates.into_iter().find(fit).unwrap_or_default()
    }

    /// The values to mark on a linear axis, at most this many intervals.
    fn linear_ticks(&self, steps: f64) -> Vec<Tick> {
        let step = nice_step((self.high - self.low) / steps);
        let largest = self.high.abs().max(self.low.abs());
        let label = |value| match self.unit {
            AxisUnit::Plain => number::plain(value, step, largest),
            AxisUnit::Bytes => number::bytes(value),
        };
        // A value that lies on an end up to rounding belongs to the axis.
        let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let values = (first..=last).map(|count| count as f64 * step);
        values.map(|value| Tick { value, label: label(value) }).collect()
    }

    /// The choices of marks on a logarithmic axis. Within few powers of ten, values between them
    /// are marked as well.
    fn logarithmic_candidates(&self) -> Vec<Vec<Tick>> {
        let few = self.high.log10() - self.low.log10() < 2.2;
        let between: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0, 3.0]];
        let dense = between.map(|factors| self.logarithmic_ticks(1, factors));
        let powers = Self::STRIDES.map(|stride| self.logarithmic_ticks(stride, &[1.0]));
        dense.into_iter().filter(|_| few).chain(powers).collect()
    }

    /// The values to mark: one in `stride` powers of ten, times each of the factors.
    fn logarithmic_ticks(&self, stride: i32, factors: &[f64]) -> Vec<Tick> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let powers = (low.floor() as i32..=high.ceil() as i32).filter(|power| power % stride == 0);
        let values = powers.flat_map(|power| factors.iter().map(move |factor| power_of_ten(*factor, power)));
        let inside = values.filter(|value| (self.low..=self.high).contains(value));
        inside.map(|value| Tick { value, label: number::logarithmic(value) }).collect()
    }
}

/// The number `factor · 10ᵖ`, rounded once: a quotient is exact where a product with 10⁻ᵖ is not.
fn power_of_ten(factor: f64, power: i32) -> f64 {
    if power < 0 { factor / 10f64.powi(-power) } else { factor * 10f64.powi(power) }
}

/// The first of the numbers 1, 2, 5, 10, 20, 50 … that is not smaller than this.
fn nice_step(least: f64) -> f64 {
    let power = least.log10().floor() as i32;
    let steps = [1.0, 2.0, 5.0].map(|factor| power_of_ten(factor, power));
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(power_of_ten(1.0, power + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of an axis of 200 points, where each label takes 25.
    fn labels(axis: Axis) -> Vec<String> {
        axis.ticks(200.0, |_| 25.0).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_axes_are_marked_at_round_numbers() {
        assert_eq!(labels(Axis::up_to(20_000.0, AxisUnit::Plain)), ["0", "5,000", "10,000", "15,000", "20,000"]);
        assert_eq!(labels(Axis::up_to(2.2e6, AxisUnit::Bytes)), ["0", "500 k", "1 M", "1.5 M", "2 M"]);
        assert_eq!(labels(Axis::linear(0.12, 0.93)), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(labels(Axis::linear(3.0, 3.0)), ["0", "1", "2", "3", "4", "5", "6"]);
    }

    #[test]
    fn logarithmic_axes_are_marked_at_powers_of_ten_or_between_them() {
        assert_eq!(labels(Axis::logarithmic(2e-4, 1.0)), ["10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(labels(Axis::logarithmic(0.03, 1.0)), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(Axis::logarithmic(1e-16, 1.0)).len(), 6);
        assert!((3..=8).contains(&labels(Axis::logarithmic(1e-100, 1e100)).len()));
    }

    #[test]
    fn labels_never_touch() {
        let axes = [Axis::up_to(2e4, AxisUnit::Plain), Axis::linear(-0.3, 1.7), Axis::logarithmic(1e-12, 3.0)];
        for axis in axes.into_iter().chain([Axis::logarithmic(0.2, 3.0), Axis::up_to(7e8, AxisUnit::Bytes)]) {
            for length in [20.0, 60.0, 150.0, 400.0] {
                let ticks = axis.ticks(length, |label| 6.0 * label.chars().count() as f64);
                for pair in ticks.windows(2) {
                    let room = 3.0 * (pair[0].label.chars().count() + pair[1].label.chars().count()) as f64;
                    assert!(length * (axis.place(pair[1].value) - axis.place(pair[0].value)) >= room, "{ticks:?}");
                }
                assert!(ticks.len() > 1 || length < 100.0, "{axis:?} on {length}: {ticks:?}");
            }
        }
    }

    #[test]
    fn places_go_from_zero_to_one() {
        let (linear, logarithmic) = (Axis::linear(-2.0, 8.0), Axis::logarithmic(1e-4, 1.0));
        for axis in [linear, logarithmic] {
            assert!(axis.place(axis.low).abs() < 1e-12 && (axis.place(axis.high) - 1.0).abs() < 1e-12);
            assert!((axis.place(axis.with_room_above(0.25).high) - 1.25).abs() < 1e-12);
        }
        assert!((linear.place(3.0) - 0.5).abs() < 1e-12);
        assert!((logarithmic.place(1e-2) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn axes_of_what_is_never_negative_do_not_go_below_zero() {
        assert_eq!(Axis::linear(0.01, 1.0).low, 0.0);
        assert!(Axis::linear(-0.01, 1.0).low < -0.01);
        assert_eq!(Axis::up_to(0.0, AxisUnit::Plain).high, 1.0);
    }
}
