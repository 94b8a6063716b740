//! A sheet to draw on. What comes out is SVG.

use std::fmt::Write;

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle};

/// A place on a sheet: pixels to the right and down from its upper left corner.
pub(super) type Spot = (f64, f64);

/// A white sheet.
pub(super) struct Canvas {
    size: (f64, f64),
    elements: String,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub(super) colour: RGBColor,
    pub(super) opacity: f64,
    pub(super) width: f64,
    /// Lengths of dashes and gaps by turns; none for a solid line.
    pub(super) dashes: &'static [f64],
}

/// How a text is written: centred vertically at its spot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) colour: RGBColor,
    pub(super) side: Side,
    /// From the bottom to the top instead of from left to right.
    pub(super) upwards: bool,
}

/// Which part of a text is at its spot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// The back end knows whole units only: so many make a pixel.
    const FINENESS: f64 = 10.0;
    const FONTS: FontFamily<'static> = FontFamily::Name("DejaVu Sans, sans-serif");

    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { size: (width.ceil(), height.ceil()), elements: String::new() }
    }

    /// Draws a line through these spots.
    pub(super) fn line(&mut self, spots: &[Spot], pen: Pen) {
        let Pen { colour, opacity, width, dashes } = pen;
        let stroke_width = units(width).unsigned_abs();
        let style = ShapeStyle { color: colour.mix(opacity), filled: false, stroke_width };
        let line = drawn(|backend| backend.draw_path(spots.iter().map(place), &style));
        // The back end knows no dashes, but lines have those of the group they are in.
        let dashes: Vec<String> = dashes.iter().map(|&length| units(length).to_string()).collect();
        _ = match dashes.as_slice() {
            [] => self.elements.write_str(&line),
            dashes => writeln!(self.elements, "<g stroke-dasharray=\"{}\">\n{line}</g>", dashes.join(" ")),
        };
    }

    /// Fills the area within these corners.
    pub(super) fn area(&mut self, corners: &[Spot], colour: RGBColor, opacity: f64) {
        let style = colour.mix(opacity);
        self.elements += &drawn(|backend| backend.fill_polygon(corners.iter().map(place), &style));
    }

    /// Draws a disc.
    pub(super) fn disc(&mut self, centre: Spot, radius: f64, colour: RGBColor) {
        let radius = units(radius).unsigned_abs();
        self.elements += &drawn(|backend| backend.draw_circle(place(&centre), radius, &colour.mix(1.0), true));
    }

    /// Writes a text.
    pub(super) fn text(&mut self, spot: Spot, text: &str, lettering: Lettering) {
        let Lettering { size, colour, side, upwards } = lettering;
        // The back end centres small letters; figures and capitals are taller.
        let down = 0.08 * size;
        let spot = if upwards { (spot.0 + down, spot.1) } else { (spot.0, spot.1 + down) };
        let turn = if upwards { FontTransform::Rotate270 } else { FontTransform::None };
        // The back end takes sizes in its own measure.
        let font = FontDesc::new(Self::FONTS, 1.24 * Self::FINENESS * size, FontStyle::Normal).transform(turn);
        let style = font.color(&colour).pos(Pos::new(side.into(), VPos::Center));
        self.elements += &drawn(|backend| backend.draw_text(text, &style, place(&spot)));
    }

    /// The whole sheet as an SVG document.
    pub(super) fn into_svg(self) -> String {
        let (width, height) = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
             stroke-linejoin=\"round\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{}</svg>\n",
            units(width),
            units(height),
            self.elements
        )
    }
}

impl From<Side> for HPos {
    fn from(side: Side) -> Self {
        match side {
            Side::Start => Self::Left,
            Side::Middle => Self::Center,
            Side::End => Self::Right,
        }
    }
}

/// The elements that the back end draws, without the document around them.
fn drawn<E>(draw: impl FnOnce(&mut SVGBackend<'_>) -> Result<(), E>) -> String {
    let mut document = String::new();
    // It draws into a text, which cannot fail.
    _ = draw(&mut SVGBackend::with_string(&mut document, (0, 0)));
    let start = document.find(">\n").map_or(0, |tag| tag + 2);
    let end = document.rfind("</svg>").unwrap_or(document.len());
    document[start..end].to_owned()
}

fn units(pixels: f64) -> i32 {
    (pixels * Canvas::FINENESS).round() as i32
}

fn place(&(x, y): &Spot) -> (i32, i32) {
    (units(x), units(y))
}

#[cfg(test)]
mod tests {
    use super::super::palette::{INK, letters};
    use super::*;

    fn drawn_by(draw: impl FnOnce(&mut Canvas)) -> String {
        let mut canvas = Canvas::new(30.0, 20.0);
        draw(&mut canvas);
        canvas.into_svg()
    }

    #[test]
    fn a_sheet_is_measured_in_pixels() {
        let svg = drawn_by(|canvas| canvas.disc((1.5, 2.04), 3.0, INK));
        assert!(svg.contains(r#"width="30" height="20" viewBox="0 0 300 200""#), "{svg}");
        assert!(svg.contains(r#"<circle cx="15" cy="20" r="30""#), "{svg}");
        assert_eq!(svg.matches("<svg").count() + svg.matches("</svg>").count(), 2, "{svg}");
    }

    #[test]
    fn lines_have_their_dashes() {
        let line = |dashes| Pen { colour: INK, opacity: 0.5, width: 2.0, dashes };
        let solid = drawn_by(|canvas| canvas.line(&[(0.0, 0.0), (1.0, 2.0)], line(&[])));
        let dashed = drawn_by(|canvas| canvas.line(&[(0.0, 0.0), (1.0, 2.0)], line(&[7.0, 2.5])));
        assert!(solid.contains(r#"stroke-width="20" points="0,0 10,20 ""#) && solid.contains(r#"opacity="0.5""#));
        assert!(!solid.contains("dash") && dashed.contains(r#"<g stroke-dasharray="70 25">"#));
    }

    #[test]
    fn texts_may_hold_anything() {
        let svg = drawn_by(|canvas| canvas.text((1.0, 2.0), "a < b & \"c\"", letters(12.0, Side::End)));
        assert!(svg.contains("a &lt; b &amp; &quot;c&quot;") && svg.contains(r#"text-anchor="end""#), "{svg}");
        assert!(svg.contains(r#"font-family="DejaVu Sans, sans-serif" font-size="120"#), "{svg}");
    }
}
