//! Numbers as axes show them.

use crate::number::{superscript, with_commas};

/// Writes a number of a linear axis, whose marked values are a step apart. `largest` is the largest
/// of them.
pub(super) fn plain(value: f64, step: f64, largest: f64) -> String {
    if !(1e-3..1e6).contains(&largest) && largest > 0.0 {
        return scientific(value);
    }
    let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
    // A rounding error below zero would be written as −0.
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    with_commas(&format!("{value:.decimals$}")).replace('-', "−")
}

/// Writes a number of a logarithmic axis: 0.01 and 100, but 10⁻³ and 10³.
pub(super) fn logarithmic(value: f64) -> String {
    let exponent = exponent_of(value);
    if exponent.abs() > 2 {
        return scientific(value);
    }
    format!("{value:.*}", usize::try_from(-exponent).unwrap_or(0))
}

/// Writes a number of bytes, such as 20 k or 1.5 M.
pub(super) fn bytes(value: f64) -> String {
    let (unit, name) = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")]
        .into_iter()
        .find(|(unit, _)| value >= *unit)
        .unwrap_or((1.0, ""));
    format!("{}{name}", rounded(value / unit))
}

/// Writes a number with a power of ten.
fn scientific(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = exponent_of(value.abs());
    let power = format!("10{}", superscript(exponent));
    match rounded(value / 10f64.powi(exponent)).as_str() {
        "1" => power,
        "-1" => format!("−{power}"),
        factor => format!("{}×{power}", factor.replace('-', "−")),
    }
}

/// The exponent of the power of ten at or below a value, which may be off by a rounding error.
fn exponent_of(value: f64) -> i32 {
    (value.log10() + 1e-9).floor() as i32
}

/// Writes a number with at most three decimals, without zeros at their end.
fn rounded(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_have_the_decimals_of_their_step() {
        let labels = |values: [f64; 3], step| values.map(|value| plain(value, step, values[2].abs()));
        assert_eq!(labels([0.0, 0.2, 3.0 * 0.1], 0.1), ["0.0", "0.2", "0.3"]);
        assert_eq!(labels([-5000.0, -1e-13, 20000.0], 5000.0), ["−5,000", "0", "20,000"]);
        assert_eq!(labels([1000.5, 999.5, 123_456.0], 0.5), ["1,000.5", "999.5", "123,456.0"]);
        assert_eq!(labels([0.0, 5e-5, 1e-4], 5e-5), ["0", "5×10⁻⁵", "10⁻⁴"]);
        assert_eq!(labels([-1e7, 1.5e7, 2e7], 5e6), ["−10⁷", "1.5×10⁷", "2×10⁷"]);
    }

    #[test]
    fn logarithmic_numbers_become_powers_when_they_are_far_from_one() {
        let values = [1e-12, 1e-3, 2e-3, 0.01, 0.05, 0.1, 1.0, 20.0, 100.0, 1000.0, 5e15];
        let labels = ["10⁻¹²", "10⁻³", "2×10⁻³", "0.01", "0.05", "0.1", "1", "20", "100", "10³", "5×10¹⁵"];
        assert_eq!(values.map(logarithmic), labels);
    }

    #[test]
    fn bytes_have_units() {
        let values = [0.0, 800.0, 20_000.0, 1_500_000.0, 2e9, 1.25e12];
        assert_eq!(values.map(bytes), ["0", "800", "20 k", "1.5 M", "2 G", "1.25 T"]);
    }
}
