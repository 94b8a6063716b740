//! Colours that also colour-blind people can tell apart (Okabe and Ito 2008), and dashes where there are more lines than colours.

use plotters::style::RGBColor;

use super::canvas::{Lettering, Pen, Side};

pub(super) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
pub(super) const VERMILION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
/// Of texts and axes.
pub(super) const INK: RGBColor = RGBColor(0x26, 0x26, 0x26);
/// Of what should not be in the way.
pub(super) const GREY: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
pub(super) const WHITE: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// The clearest on white first.
const COLOURS: [RGBColor; 8] = [
    BLUE,
    VERMILION,
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xF0, 0xE4, 0x42),
];

/// Each turn through the colours has its own.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[9.0, 2.5, 2.0, 2.5], &[4.0, 2.0]];

/// Of runs that went astray.
pub(super) const DOTS: &[f64] = &[1.5, 3.0];

/// The pen of the n-th line.
pub(super) fn pen(place: usize) -> Pen {
    let turn = place / COLOURS.len();
    Pen { colour: COLOURS[place % COLOURS.len()], opacity: 1.0, width: 2.0, dashes: DASHES[turn % DASHES.len()] }
}

/// A thin line in this colour.
pub(super) fn hairline(colour: RGBColor) -> Pen {
    Pen { colour, opacity: 1.0, width: 1.0, dashes: &[] }
}

/// Dark letters of this size.
pub(super) fn letters(size: f64, side: Side) -> Lettering {
    Lettering { size, colour: INK, side, upwards: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_two_lines_can_be_told_apart() {
        let look = |place| (pen(place).colour, pen(place).dashes);
        for place in 0..32 {
            assert!((0..place).all(|other| look(other) != look(place)), "line {place} looks like another");
            assert_ne!(pen(place).dashes, DOTS);
        }
        assert!((0..8).all(|place| pen(place).dashes.is_empty()));
    }
}
