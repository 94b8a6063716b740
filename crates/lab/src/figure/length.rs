//! Printed lengths as people write them.

use std::str::FromStr;

/// A printed length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// The length in points, of which 72 make an inch.
    pub(super) points: f64,
}

/// Why a text is no length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LengthError {
    /// The text is not of the form.
    #[error("a length is a number and a unit, such as 3.25in, 84mm, 8.4cm or 234pt")]
    Form,
    /// The length is too small or too large for a figure.
    #[error("a figure is at least {}in and at most {}in wide", Length::INCHES.0, Length::INCHES.1)]
    Size,
}

impl Length {
    /// The least and the largest width of a figure, in inches.
    const INCHES: (f64, f64) = (1.5, 50.0);

    /// A length in inches.
    pub(super) const fn inches(inches: f64) -> Self {
        Self { points: 72.0 * inches }
    }
}

impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        let units = [("in", 72.0), ("cm", 72.0 / 2.54), ("mm", 72.0 / 25.4), ("pt", 1.0)];
        let read =
            |(name, points): (&str, f64)| Some(text.trim().strip_suffix(name)?.trim().parse::<f64>().ok()? * points);
        let points = units.into_iter().find_map(read).ok_or(LengthError::Form)?;
        let (least, most) = Self::INCHES;
        if (72.0 * least..=72.0 * most).contains(&points) { Ok(Self { points }) } else { Err(LengthError::Size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let points = |text: &str| text.parse::<Length>().map(|length| (length.points * 100.0).round() / 100.0);
        assert_eq!(points("3.25in"), Ok(234.0));
        assert_eq!(points("84mm"), Ok(238.11));
        assert_eq!(points(" 8.4 cm "), Ok(238.11));
        assert_eq!(points("234pt"), Ok(234.0));
        for wrong in ["", "in", "3.25", "3,25in", "wide", "3.25 inches"] {
            assert_eq!(points(wrong), Err(LengthError::Form), "{wrong}");
        }
        for wrong in ["0in", "-3in", "1in", "1000in", "NaNin", "infin"] {
            assert_eq!(points(wrong), Err(LengthError::Size), "{wrong}");
        }
    }
}
