//! The effort that a value of a metric took.

use std::str::FromStr;

use super::axis::AxisUnit;
use super::band::UnknownWord;
use super::curve::CurvePoint;

/// The effort that a value took: the horizontal axis of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The number of rounds.
    Rounds,
    /// The time spent in rounds.
    Seconds,
    /// The bytes that an agent has sent, on average.
    Bytes,
}

impl Effort {
    pub(super) const ALL: [Self; 3] = [Self::Rounds, Self::Seconds, Self::Bytes];

    /// The name that users write, which is part of file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
        }
    }

    /// The title of the axis.
    pub(super) fn title(self) -> &'static str {
        if self == Self::Bytes { "bytes sent per agent" } else { self.name() }
    }

    /// The unit of the axis.
    pub(super) fn unit(self) -> AxisUnit {
        if self == Self::Bytes { AxisUnit::Bytes } else { AxisUnit::Plain }
    }

    /// The effort of a point.
    pub(super) fn of(self, point: &CurvePoint) -> f64 {
        match self {
            Self::Rounds => point.round,
            Self::Seconds => point.seconds,
            Self::Bytes => point.bytes,
        }
    }
}

impl FromStr for Effort {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|effort| effort.name() == word).ok_or(UnknownWord("rounds, seconds, bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::band::BandValue;
    use super::*;

    #[test]
    fn efforts_are_taken_from_their_columns() {
        let point = CurvePoint {
            round: 10.0,
            seconds: 0.01,
            bytes: 400.0,
            spread: BandValue { line: 1.0, low: 1.0, high: 1.0 },
        };
        assert_eq!(Effort::ALL.map(|effort| effort.of(&point)), [10.0, 0.01, 400.0]);
        assert_eq!(Effort::ALL.map(|effort| effort.name().parse()), Effort::ALL.map(Ok));
        assert!("hours".parse::<Effort>().is_err());
    }
}
