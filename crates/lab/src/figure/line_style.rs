//! The styles by which lines are told apart: colours that colour-blind people distinguish, too
//! (Okabe and Ito 2008), dashes and markers.

use super::canvas::{Colour, Pen};
use super::marker::Marker;
use super::palette::{BLUE, VERMILION};

/// The style of a line: colour, dashes and markers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LineStyle {
    pub(super) colour: Colour,
    /// The lengths of dashes and gaps by turns; none for a solid line.
    pub(super) dashes: &'static [f64],
    pub(super) marker: Marker,
}

/// The styles in order, the clearest on white first. Only the first line is solid: it is drawn
/// first, and seen through the gaps of lines that coincide with it.
const STYLES: [LineStyle; 8] = [
    style(BLUE, &[], Marker::Disc),
    style(VERMILION, &[5.0, 1.8], Marker::Square),
    style(Colour(0x00, 0x9E, 0x73), &[5.0, 1.6, 1.2, 1.6], Marker::Diamond),
    style(Colour(0xCC, 0x79, 0xA7), &[2.6, 1.4], Marker::Ring),
    style(Colour(0xE6, 0x9F, 0x00), &[8.0, 2.0], Marker::OpenSquare),
    style(Colour(0x56, 0xB4, 0xE9), &[1.2, 1.2], Marker::OpenDiamond),
    style(Colour(0x00, 0x00, 0x00), &[8.0, 1.6, 1.2, 1.6, 1.2, 1.6], Marker::Cross),
    style(Colour(0x99, 0x8A, 0x00), &[3.5, 3.0], Marker::Plus),
];

const fn style(colour: Colour, dashes: &'static [f64], marker: Marker) -> LineStyle {
    LineStyle { colour, dashes, marker }
}

impl LineStyle {
    /// The number of lines that can be told apart in one frame.
    pub(super) const MOST: usize = STYLES.len();

    /// The style of the n-th line.
    pub(super) fn of(place: usize) -> Self {
        STYLES[place % STYLES.len()]
    }

    /// The pen of the line.
    pub(super) fn pen(self) -> Pen {
        Pen { colour: self.colour, opacity: 1.0, width: 1.2, dashes: self.dashes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_differ_in_colour_in_dashes_and_in_markers() {
        for place in 0..LineStyle::MOST {
            for other in 0..place {
                let (one, other) = (LineStyle::of(place), LineStyle::of(other));
                assert!(one.colour != other.colour && one.dashes != other.dashes && one.marker != other.marker);
            }
        }
        assert!(
            (1..LineStyle::MOST).all(|place| !LineStyle::of(place).dashes.is_empty()),
            "coinciding lines hide each other"
        );
    }

    #[test]
    fn every_colour_stands_out_from_white() {
        let part = |value: u8| (f64::from(value) / 255.0).powf(2.2);
        for place in 0..LineStyle::MOST {
            let Colour(red, green, blue) = LineStyle::of(place).colour;
            let luminance = 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
            assert!(1.05 / (luminance + 0.05) > 2.0, "line {place} is too light");
        }
    }
}
