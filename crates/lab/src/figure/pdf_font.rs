//! The font within a PDF file: it is embedded, together with the texts that its glyphs stand for,
//! so that texts can be searched and copied.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};

use super::encode_error::EncodeError;
use super::font::{DATA, Font};

/// The name of the font on the page.
pub(super) const NAME: &[u8] = b"F";
/// The name of the font's file. The six letters before the plus sign mark it as a part of a font.
const POSTSCRIPT: Name<'static> = Name(b"FABNET+DejaVuSans");
const IDENTITY: SystemInfo<'static> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Embeds the font as this object and the four that follow.
pub(super) fn embed(pdf: &mut Pdf, id: Ref, font: &Font, texts: &BTreeMap<u16, String>) -> Result<(), EncodeError> {
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
    let length = i32::try_from(DATA.len())?;
    pdf.stream(file, &data).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
    let mut cmap = UnicodeCmap::new(Name(b"fabnet"), IDENTITY);
    for (glyph, text) in texts {
        cmap.pair_with_multiple(*glyph, text.chars());
    }
    let cmap = cmap.finish();
    pdf.cmap(meaning, &cmap).name(Name(b"fabnet")).system_info(IDENTITY);
    Ok(())
}

/// Adds the measures of the font.
fn describe(pdf: &mut Pdf, id: Ref, font: &Font, file: Ref) {
    let face = &font.face;
    let scaled = |units: i16| 1000.0 * f32::from(units) / f32::from(face.units_per_em());
    let bounds = face.global_bounding_box();
    let [left, bottom, right, top] = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
    pdf.font_descriptor(id)
        .name(POSTSCRIPT)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(face.italic_angle())
        .ascent(scaled(face.ascender()))
        .descent(scaled(face.descender()))
        .cap_height(scaled(face.capital_height().unwrap_or_else(|| face.ascender())))
        // The thickness of stems, which only viewers without the font would need.
        .stem_v(80.0)
        .font_file2(file);
}

/// Compresses a stream of the document.
pub(super) fn compressed(data: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data)?;
    Ok(encoder.finish()?)
}
