//! The font of figures, which is part of the program: figures look the same on every machine, also
//! on one without fonts.

use std::sync::LazyLock;

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::{GlyphMetrics, Metrics};
use skrifa::{FontRef, GlyphId, MetadataProvider};

/// The file of the font, a subset of `DejaVu Sans`.
pub(super) const DATA: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// The measures of the font.
pub(super) struct Font {
    charmap: Charmap<'static>,
    glyphs: GlyphMetrics<'static>,
    pub(super) metrics: Metrics,
}

/// The font; `None` only if the file within the program is damaged, which a test excludes.
static FONT: LazyLock<Option<Font>> = LazyLock::new(|| {
    let font = FontRef::new(DATA).ok()?;
    let (size, location) = (Size::unscaled(), LocationRef::default());
    let glyphs = font.glyph_metrics(size, location);
    Some(Font { charmap: font.charmap(), glyphs, metrics: font.metrics(size, location) })
});

impl Font {
    /// The font within the program.
    pub(super) fn get() -> Option<&'static Self> {
        FONT.as_ref()
    }

    /// The widths of all glyphs, in thousandths of the size of letters.
    pub(super) fn widths(&self) -> impl Iterator<Item = f32> {
        (0..self.metrics.glyph_count).map(|glyph| self.advance(GlyphId::new(glyph.into())) as f32)
    }

    /// The width of a glyph, in thousandths of the size of letters.
    fn advance(&self, glyph: GlyphId) -> f64 {
        1000.0 * f64::from(self.glyphs.advance_width(glyph).unwrap_or(0.0)) / f64::from(self.metrics.units_per_em)
    }
}

/// The width of a text, in the unit of the size of its letters.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    /// The width of a letter if the font cannot be read, wide enough for most letters.
    const DEFAULT_ADVANCE: f64 = 600.0;
    let advance = |letter: char| {
        FONT.as_ref().map_or(DEFAULT_ADVANCE, |font| font.advance(font.charmap.map(letter).unwrap_or_default()))
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
