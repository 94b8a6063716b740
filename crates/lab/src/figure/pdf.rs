//! From SVG to PDF: the same shapes, and texts in the embedded font.

use std::collections::BTreeMap;

use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use resvg::tiny_skia::{PathSegment, Transform};
use resvg::usvg::{self, Color, Group, Node, Opacity, Paint, Path, Text};

use super::encode_error::EncodeError;
use super::font::Font;
use super::pdf_font::{self, compressed};
use super::raster::parse;

/// The points of a unit, of which usvg has 96 to the inch.
const POINTS: f32 = 0.75;

/// The number of the document's catalog; the other objects follow.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFORMATION: Ref = Ref::new(5);
const FONT: Ref = Ref::new(6);
/// The number of the first opacity; the font takes five objects before it.
const OPACITIES: i32 = 20;

/// Turns an SVG document into a PDF file of one page.
pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, EncodeError> {
    let font = Font::get().ok_or(EncodeError::Font)?;
    let tree = parse(svg)?;
    let (width, height) = (POINTS * tree.size().width(), POINTS * tree.size().height());
    // A page is measured from its lower left corner.
    let place = Transform::from_row(POINTS, 0.0, 0.0, -POINTS, 0.0, height);
    let mut page = PdfPage { content: Content::new(), place, font, opacities: BTreeMap::new(), texts: BTreeMap::new() };
    page.draw_group(tree.root())?;
    page.document(width, height)
}

/// A page that is being drawn.
struct PdfPage {
    content: Content,
    /// The transform from the units of the SVG document to the page.
    place: Transform,
    font: &'static Font,
    /// The opacities in thousandths, with the number of each.
    opacities: BTreeMap<u16, i32>,
    /// The text that each glyph stands for.
    texts: BTreeMap<u16, String>,
}

impl PdfPage {
    fn draw_group(&mut self, group: &Group) -> Result<(), EncodeError> {
        if group.should_isolate() && !group.children().is_empty() {
            return Err(EncodeError::Unsupported("layers"));
        }
        group.children().iter().try_for_each(|node| match node {
            Node::Group(group) => self.draw_group(group),
            Node::Path(path) => self.draw_path(path),
            Node::Text(text) => self.draw_text(text),
            Node::Image(_) => Err(EncodeError::Unsupported("images")),
        })
    }

    fn draw_path(&mut self, path: &Path) -> Result<(), EncodeError> {
        let transform = self.place.pre_concat(path.abs_transform());
        if let Some(fill) = path.fill() {
            self.content.save_state();
            self.set_opacity(fill.opacity());
            let [red, green, blue] = parts(fill.paint())?;
            self.content.set_fill_rgb(red, green, blue);
            self.trace(path, transform);
            self.content.fill_nonzero().restore_state();
        }
        if let Some(stroke) = path.stroke() {
            // Dashes are scaled by one number: the transform of a figure scales both axes alike.
            let scale = transform.sx.hypot(transform.ky);
            let dashes = stroke.dasharray().unwrap_or_default().iter().map(|length| scale * length);
            self.content.save_state();
            self.set_opacity(stroke.opacity());
            let [red, green, blue] = parts(stroke.paint())?;
            self.content
                .set_stroke_rgb(red, green, blue)
                .set_line_width(scale * stroke.width().get())
                .set_line_cap(LineCapStyle::ButtCap)
                .set_line_join(LineJoinStyle::RoundJoin)
                .set_dash_pattern(dashes, 0.0);
            self.trace(path, transform);
            self.content.stroke().restore_state();
        }
        Ok(())
    }

    /// Adds the outline of a path.
    fn trace(&mut self, path: &Path, transform: Transform) {
        let data = path.data().clone().transform(transform);
        let segments = data.iter().flat_map(usvg::tiny_skia_path::Path::segments);
        let mut last = (0.0, 0.0);
        for segment in segments {
            match segment {
                PathSegment::MoveTo(to) => {
                    self.content.move_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::LineTo(to) => {
                    self.content.line_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::QuadTo(by, to) => {
                    // The same curve as a cubic one, because PDF has no quadratic curves.
                    let near = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
                    let (first, second) =
                        ((near(last.0, by.x), near(last.1, by.y)), (near(to.x, by.x), near(to.y, by.y)));
                    self.content.cubic_to(first.0, first.1, second.0, second.1, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::CubicTo(first, second, to) => {
                    self.content.cubic_to(first.x, first.y, second.x, second.y, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::Close => _ = self.content.close_path(),
            }
        }
    }

    /// Writes each glyph at its own position, so that distances are those of the SVG document.
    fn draw_text(&mut self, text: &Text) -> Result<(), EncodeError> {
        let to_page = self.place.pre_concat(text.abs_transform());
        for span in text.layouted() {
            let Some(fill) = &span.fill else { continue };
            self.content.save_state();
            self.set_opacity(fill.opacity());
            let [red, green, blue] = parts(fill.paint())?;
            self.content.set_fill_rgb(red, green, blue).begin_text();
            for glyph in &span.positioned_glyphs {
                let number = glyph.id.0 as u16;
                let units = f32::from(self.font.face.units_per_em());
                let Transform { sx, ky, kx, sy, tx, ty } = to_page.pre_concat(glyph.outline_transform());
                let size = units * sx.hypot(ky);
                let matrix = [sx, ky, kx, sy].map(|part| part * units / size);
                self.content
                    .set_font(Name(pdf_font::NAME), size)
                    .set_text_matrix([matrix[0], matrix[1], matrix[2], matrix[3], tx, ty])
                    .show(Str(&number.to_be_bytes()));
                self.texts.entry(number).or_insert_with(|| glyph.text.clone());
            }
            self.content.end_text().restore_state();
        }
        Ok(())
    }

    /// Selects an opacity, unless it is that of a solid colour.
    fn set_opacity(&mut self, opacity: Opacity) {
        let thousandths = (1000.0 * opacity.get()).round() as u16;
        if thousandths < 1000 {
            let number = i32::try_from(self.opacities.len()).unwrap_or(i32::MAX);
            let number = *self.opacities.entry(thousandths).or_insert(number);
            self.content.set_parameters(Name(format!("O{number}").as_bytes()));
        }
    }

    /// The whole document with this page.
    fn document(self, width: f32, height: f32) -> Result<Vec<u8>, EncodeError> {
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        pdf.document_info(INFORMATION).creator(TextStr("fabnet"));
        let mut page = pdf.page(PAGE);
        page.media_box(Rect::new(0.0, 0.0, width, height)).parent(PAGES).contents(CONTENT);
        let mut resources = page.resources();
        resources.fonts().pair(Name(pdf_font::NAME), FONT);
        let mut states = resources.ext_g_states();
        for number in self.opacities.values() {
            states.pair(Name(format!("O{number}").as_bytes()), Ref::new(OPACITIES + number));
        }
        states.finish();
        resources.finish();
        page.finish();
        for (thousandths, number) in &self.opacities {
            let opacity = f32::from(*thousandths) / 1000.0;
            let mut state = pdf.ext_graphics(Ref::new(OPACITIES + number));
            state.stroking_alpha(opacity).non_stroking_alpha(opacity);
        }
        let content = compressed(&self.content.finish())?;
        pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
        pdf_font::embed(&mut pdf, FONT, self.font, &self.texts)?;
        Ok(pdf.finish())
    }
}

/// The red, green and blue of a paint, each between 0 and 1.
fn parts(paint: &Paint) -> Result<[f32; 3], EncodeError> {
    match paint {
        Paint::Color(Color { red, green, blue }) => Ok([*red, *green, *blue].map(|part| f32::from(part) / 255.0)),
        _ => Err(EncodeError::Unsupported("gradients or patterns")),
    }
}
