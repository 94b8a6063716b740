//! The colours of figures, and their thin lines and texts.

use super::canvas::{Colour, Pen, TextAnchor, TextStyle};

/// The blue of lines, of links one way and of shades.
pub(super) const BLUE: Colour = Colour(0x00, 0x72, 0xB2);
/// The red of lines and of links both ways.
pub(super) const VERMILION: Colour = Colour(0xD5, 0x5E, 0x00);
/// The colour of texts and axes.
pub(super) const INK: Colour = Colour(0x26, 0x26, 0x26);
/// The colour of grid lines, which stay in the background.
pub(super) const GREY: Colour = Colour(0xE4, 0xE4, 0xE4);
/// The colour of the other curves in a panel that is about one curve.
pub(super) const SHADE: Colour = Colour(0xC4, 0xC4, 0xC4);
/// The colour of the sheet.
pub(super) const WHITE: Colour = Colour(0xFF, 0xFF, 0xFF);

/// The size of letters in points, as printed.
pub(super) const TEXT: f64 = 8.0;

/// The pen of a thin line in this colour.
pub(super) fn hairline(colour: Colour) -> Pen {
    Pen { colour, opacity: 1.0, width: 0.5, dashes: &[] }
}

/// The style of a dark text of the default size.
pub(super) fn text_style(anchor: TextAnchor) -> TextStyle {
    text_style_of(TEXT, anchor)
}

/// The style of a dark text of this size.
pub(super) fn text_style_of(size: f64, anchor: TextAnchor) -> TextStyle {
    TextStyle { size, colour: INK, anchor, upwards: false }
}
