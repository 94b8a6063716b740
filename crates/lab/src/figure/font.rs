//! The font of figures, which is part of the program: figures look the same on every machine, also
//! on one without fonts.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// The file of the font, a subset of `DejaVu Sans`.
pub(super) const DATA: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// The measures of the font.
pub(super) struct Font {
    pub(super) face: Face<'static>,
}

/// The font; `None` only if the file within the program is damaged, which a test excludes.
static FONT: LazyLock<Option<Font>> = LazyLock::new(|| Some(Font { face: Face::parse(DATA, 0).ok()? }));

impl Font {
    /// The font within the program.
    #[cfg(any(test, feature = "pictures"))]
    pub(super) fn get() -> Option<&'static Self> {
        FONT.as_ref()
    }

    /// The widths of all glyphs, in thousandths of the size of letters.
    #[cfg(any(test, feature = "pictures"))]
    pub(super) fn widths(&self) -> impl Iterator<Item = f32> {
        (0..self.face.number_of_glyphs()).map(|glyph| self.advance(GlyphId(glyph)) as f32)
    }

    /// The width of a glyph, in thousandths of the size of letters.
    fn advance(&self, glyph: GlyphId) -> f64 {
        1000.0 * f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(self.face.units_per_em())
    }
}

/// The width of a text, in the unit of the size of its letters.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    /// The width of a letter if the font cannot be read, wide enough for most letters.
    const DEFAULT_ADVANCE: f64 = 600.0;
    let advance = |letter: char| {
        FONT.as_ref().map_or(DEFAULT_ADVANCE, |font| font.advance(font.face.glyph_index(letter).unwrap_or_default()))
    };
    text.chars().map(advance).sum::<f64>() * size / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // In units of 1/2048 of the size, an "i" takes 569 and an "M" 1767.
        assert!((text_width("iiii", 20.48) - 4.0 * 5.69).abs() < 0.01);
        assert!((text_width("MMMM", 20.48) - 4.0 * 17.67).abs() < 0.01);
        assert_eq!(text_width("", 8.0), 0.0);
        assert!(Font::get().is_some_and(|font| font.widths().count() > 300));
    }
}
