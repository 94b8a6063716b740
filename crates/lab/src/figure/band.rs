//! The line and the band that summarise the runs of a group at a round.

use std::str::FromStr;

use crate::results::{median, moments, quantile};

/// The statistics that a line and its band show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// The median, with a band from the lower to the upper quartile.
    Quartiles,
    /// The mean, with one standard deviation of the sample to both sides. Runs that diverged are
    /// left out.
    Std,
    /// The median, with a band from the least to the largest value.
    Range,
}

/// The values of a line and of its band at one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BandValue {
    pub(super) line: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A word that is not one of the choices, which the field lists.
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
    /// The statistics of values, which may be infinite; `None` if there are no values.
    pub(super) fn of(self, mut values: Vec<f64>) -> Option<BandValue> {
        values.sort_by(f64::total_cmp);
        let line = median(&values)?;
        Some(match self {
            Self::Quartiles => BandValue { line, low: quantile(&values, 0.25), high: quantile(&values, 0.75) },
            Self::Range => BandValue { line, low: values[0], high: values[values.len() - 1] },
            Self::Std => {
                let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
                let (line, deviation) = (moments(&finite).0?, moments(&finite).1?);
                BandValue { line, low: line - deviation, high: line + deviation }
            }
        })
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
        assert_eq!(of(Band::Quartiles), BandValue { line: 4.0, low: 2.0, high: 4.0 });
        assert_eq!(of(Band::Range), BandValue { line: 4.0, low: 1.0, high: 9.0 });
        // Deviations from 4 are 5, −2, 0, −3, 0: their squares sum to 38, over n − 1 = 4.
        assert_eq!(of(Band::Std), BandValue { line: 4.0, low: 4.0 - 9.5f64.sqrt(), high: 4.0 + 9.5f64.sqrt() });
        assert_eq!(Band::Quartiles.of(Vec::new()), None);
    }

    #[test]
    fn what_diverged_counts_as_infinite_except_in_a_mean() {
        let values = || vec![1.0, 3.0, FAR];
        assert_eq!(Band::Quartiles.of(values()), Some(BandValue { line: 3.0, low: 2.0, high: FAR }));
        let Some(BandValue { line, .. }) = Band::Std.of(values()) else { panic!("there are numbers") };
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
