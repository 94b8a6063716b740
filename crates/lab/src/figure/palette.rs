//! How lines are told apart: by colours that also colour-blind people distinguish (Okabe and Ito 2008), by dashes and by markers.

use super::canvas::{Colour, Lettering, Pen, Side};
use super::marker::Marker;

pub(super) const BLUE: Colour = Colour(0x00, 0x72, 0xB2);
pub(super) const VERMILION: Colour = Colour(0xD5, 0x5E, 0x00);
/// Of texts and axes.
pub(super) const INK: Colour = Colour(0x26, 0x26, 0x26);
/// Of what should not be in the way.
pub(super) const GREY: Colour = Colour(0xE4, 0xE4, 0xE4);
/// Of the other lines of a panel that is about one.
pub(super) const SHADE: Colour = Colour(0xC4, 0xC4, 0xC4);
pub(super) const WHITE: Colour = Colour(0xFF, 0xFF, 0xFF);

/// The size of letters in points, as printed.
pub(super) const TEXT: f64 = 8.0;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) colour: Colour,
    pub(super) dashes: &'static [f64],
    pub(super) marker: Marker,
}

/// The clearest on white first. Only the first line is solid: whatever coincides with it is seen through its own gaps.
const LOOKS: [Look; 8] = [
    look(BLUE, &[], Marker::Disc),
    look(VERMILION, &[5.0, 1.8], Marker::Square),
    look(Colour(0x00, 0x9E, 0x73), &[5.0, 1.6, 1.2, 1.6], Marker::Diamond),
    look(Colour(0xCC, 0x79, 0xA7), &[2.6, 1.4], Marker::Ring),
    look(Colour(0xE6, 0x9F, 0x00), &[8.0, 2.0], Marker::OpenSquare),
    look(Colour(0x56, 0xB4, 0xE9), &[1.2, 1.2], Marker::OpenDiamond),
    look(Colour(0x00, 0x00, 0x00), &[8.0, 1.6, 1.2, 1.6, 1.2, 1.6], Marker::Cross),
    look(Colour(0x99, 0x8A, 0x00), &[3.5, 3.0], Marker::Plus),
];

const fn look(colour: Colour, dashes: &'static [f64], marker: Marker) -> Look {
    Look { colour, dashes, marker }
}

impl Look {
    /// As many lines can be told apart in one frame.
    pub(super) const MOST: usize = LOOKS.len();

    /// Of the n-th line.
    pub(super) fn of(place: usize) -> Self {
        LOOKS[place % LOOKS.len()]
    }

    /// What a line is drawn with.
    pub(super) fn pen(self) -> Pen {
        Pen { colour: self.colour, opacity: 1.0, width: 1.2, dashes: self.dashes }
    }
}

/// A thin line in this colour.
pub(super) fn hairline(colour: Colour) -> Pen {
    Pen { colour, opacity: 1.0, width: 0.5, dashes: &[] }
}

/// Dark letters of the usual size.
pub(super) fn letters(side: Side) -> Lettering {
    letters_of(TEXT, side)
}

/// Dark letters of this size.
pub(super) fn letters_of(size: f64, side: Side) -> Lettering {
    Lettering { size, colour: INK, side, upwards: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_differ_in_colour_in_dashes_and_in_markers() {
        for place in 0..Look::MOST {
            for other in 0..place {
                let (one, other) = (Look::of(place), Look::of(other));
                assert!(one.colour != other.colour && one.dashes != other.dashes && one.marker != other.marker);
            }
        }
        assert!((1..Look::MOST).all(|place| !Look::of(place).dashes.is_empty()), "coinciding lines hide each other");
    }

    #[test]
    fn every_colour_stands_out_from_white() {
        let part = |value: u8| (f64::from(value) / 255.0).powf(2.2);
        for place in 0..Look::MOST {
            let Colour(red, green, blue) = Look::of(place).colour;
            let luminance = 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
            assert!(1.05 / (luminance + 0.05) > 2.0, "line {place} is too light");
        }
    }
}
