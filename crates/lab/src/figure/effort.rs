//! What the values of a metric took.

use std::str::FromStr;

use super::axis::Unit;
use super::band::UnknownWord;
use super::curve::Point;

/// What a value took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Rounds of the network.
    Rounds,
    /// Time spent in rounds.
    Seconds,
    /// Bytes that an agent has sent, on average.
    Bytes,
}

impl Effort {
    pub(super) const ALL: [Self; 3] = [Self::Rounds, Self::Seconds, Self::Bytes];

    /// As users write it, and as files are named.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
        }
    }

    pub(super) fn title(self) -> &'static str {
        if self == Self::Bytes { "bytes sent per agent" } else { self.name() }
    }

    pub(super) fn unit(self) -> Unit {
        if self == Self::Bytes { Unit::Bytes } else { Unit::Plain }
    }

    pub(super) fn of(self, point: &Point) -> f64 {
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
    use super::super::band::Spread;
    use super::*;

    #[test]
    fn efforts_are_taken_from_their_columns() {
        let point =
            Point { round: 10.0, seconds: 0.01, bytes: 400.0, spread: Spread { line: 1.0, low: 1.0, high: 1.0 } };
        assert_eq!(Effort::ALL.map(|effort| effort.of(&point)), [10.0, 0.01, 400.0]);
        assert_eq!(Effort::ALL.map(|effort| effort.name().parse()), Effort::ALL.map(Ok));
        assert!("hours".parse::<Effort>().is_err());
    }
}
