//! The font within a PDF: embedded, and with what its glyphs stand for, so that texts can be searched and copied.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};

use super::font::{DATA, Font};
use super::pdf::compressed;

/// As the page calls it.
pub(super) const NAME: &[u8] = b"F";
/// The letters before the name say that it is a part of a font.
const POSTSCRIPT: Name<'static> = Name(b"FABNET+DejaVuSans");
const IDENTITY: SystemInfo<'static> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Embeds the font as this object and the four that follow.
pub(super) fn embed(pdf: &mut Pdf, id: Ref, font: &Font, texts: &BTreeMap<u16, String>) -> Result<(), String> {
    let [glyphs, descriptor, file, meaning] = [1, 2, 3, 4].map(|next| Ref::new(id.get() + next));
    pdf.type0_font(id)
        .base_font(POSTSCRIPT)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(glyphs)
        .to_unicode(meaning);
    let mut cid = pdf.cid_font(glyphs);
    cid.subtype(CidFontType::Type2)
        .base_font(POSTSCRIPT)
        .system_info(IDENTITY)
        .font_descriptor(descriptor)
        .cid_to_gid_map_predefined(Name(b"Identity"));
    cid.widths().consecutive(0, font.widths());
    cid.finish();
    describe(pdf, descriptor, font, file);
    let data = compressed(DATA)?;
    let length = i32::try_from(DATA.len()).map_err(|error| error.to_string())?;
    pdf.stream(file, &data).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
    let mut cmap = UnicodeCmap::new(Name(b"fabnet"), IDENTITY);
    for (glyph, text) in texts {
        cmap.pair_with_multiple(*glyph, text.chars());
    }
    let cmap = cmap.finish();
    pdf.cmap(meaning, &cmap).name(Name(b"fabnet")).system_info(IDENTITY);
    Ok(())
}

fn describe(pdf: &mut Pdf, id: Ref, font: &Font, file: Ref) {
    let metrics = &font.metrics;
    let scaled = |units: f32| 1000.0 * units / f32::from(metrics.units_per_em);
    let bounds = metrics.bounds.unwrap_or_default();
    let [left, bottom, right, top] = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
    pdf.font_descriptor(id)
        .name(POSTSCRIPT)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(metrics.italic_angle)
        .ascent(scaled(metrics.ascent))
        .descent(scaled(metrics.descent))
        .cap_height(scaled(metrics.cap_height.unwrap_or(metrics.ascent)))
        // Of stems; viewers that have the font do not need it.
        .stem_v(80.0)
        .font_file2(file);
}
