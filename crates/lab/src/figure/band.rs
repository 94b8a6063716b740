//! What the runs of a group have in common at a round: a line, and a band around it.

use std::str::FromStr;

use crate::summary::{median, moments};

/// What a band shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// From the lower to the upper quartile, around the median.
    Quartiles,
    /// One standard deviation of the sample to both sides of the mean. Runs that diverged are left out.
    Std,
    /// From the least to the largest value, around the median.
    Range,
}

/// A line with a band around it, at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) line: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A word that is not one of those that are known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is one of {0}")]
pub struct UnknownWord(pub(super) &'static str);

impl FromStr for Band {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "quartiles" => Ok(Self::Quartiles),
            "std" => Ok(Self::Std),
            "range" => Ok(Self::Range),
            _ => Err(UnknownWord("quartiles, std, range")),
        }
    }
}

impl Band {
    /// The spread of values, which may be infinite; none of no values.
    pub(super) fn of(self, mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let line = median(&values)?;
        Some(match self {
            Self::Quartiles => Spread { line, low: quantile(&values, 0.25), high: quantile(&values, 0.75) },
            Self::Range => Spread { line, low: values[0], high: values[values.len() - 1] },
            Self::Std => {
                let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
                let (line, deviation) = (moments(&finite).0?, moments(&finite).1?);
                Spread { line, low: line - deviation, high: line + deviation }
            }
        })
    }
}

/// The quantile of sorted values, of which there is one; between two values it lies in proportion.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    let between = place.fract();
    match (low, high) {
        _ if low == high || between == 0.0 => low,
        // Between a number and infinity there is only infinity.
        _ if high.is_infinite() => high,
        _ if low.is_infinite() => low,
        _ => low + between * (high - low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: f64 = f64::INFINITY;

    #[test]
    fn quantiles_lie_between_values_in_proportion() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|part| quantile(&values, part)), values);
        assert_eq!(quantile(&values[..4], 0.25), 1.75);
        assert_eq!(quantile(&[3.0], 0.75), 3.0);
        assert_eq!(quantile(&[1.0, FAR], 0.5), FAR);
        assert_eq!(quantile(&[-FAR, 1.0], 0.5), -FAR);
    }

    #[test]
    fn bands_are_what_they_are_called() {
        let of = |band: Band| band.of(vec![9.0, 2.0, 4.0, 1.0, 4.0]).unwrap();
        assert_eq!(of(Band::Quartiles), Spread { line: 4.0, low: 2.0, high: 4.0 });
        assert_eq!(of(Band::Range), Spread { line: 4.0, low: 1.0, high: 9.0 });
        // Deviations from 4 are 5, −2, 0, −3, 0: their squares sum to 38, over n − 1 = 4.
        assert_eq!(of(Band::Std), Spread { line: 4.0, low: 4.0 - 9.5f64.sqrt(), high: 4.0 + 9.5f64.sqrt() });
        assert_eq!(Band::Quartiles.of(Vec::new()), None);
    }

    #[test]
    fn what_diverged_counts_as_infinite_except_in_a_mean() {
        let values = || vec![1.0, 3.0, FAR];
        assert_eq!(Band::Quartiles.of(values()), Some(Spread { line: 3.0, low: 2.0, high: FAR }));
        let Some(Spread { line, .. }) = Band::Std.of(values()) else { panic!("there are numbers") };
        assert_eq!(line, 2.0);
        assert_eq!(Band::Std.of(vec![FAR, FAR]), None);
    }

    #[test]
    fn words_are_understood() {
        let words = ["quartiles", "std", "range"].map(|word| word.parse::<Band>().unwrap());
        assert_eq!(words, [Band::Quartiles, Band::Std, Band::Range]);
        assert!("sigma".parse::<Band>().unwrap_err().to_string().contains("quartiles, std, range"));
    }
}
