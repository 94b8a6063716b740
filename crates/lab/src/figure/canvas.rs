//! A sheet to draw on, which becomes an SVG document.

use std::fmt::Write;

/// A position on a sheet: units to the right and down from its upper left corner.
pub(super) type Position = (f64, f64);

/// A colour by its red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

/// A white sheet.
pub(super) struct Canvas {
    /// The width and the height, in units.
    size: (f64, f64),
    /// The points (1/72 inch) of a unit.
    unit: f64,
    /// The elements drawn so far, as SVG.
    elements: String,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) opacity: f64,
    pub(super) width: f64,
    /// The lengths of dashes and gaps by turns; none for a solid line.
    pub(super) dashes: &'static [f64],
}

/// How a text is written. Its capitals are centred vertically at its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) size: f64,
    pub(super) colour: Colour,
    pub(super) anchor: TextAnchor,
    /// Whether the text runs from the bottom to the top instead of from left to right.
    pub(super) upwards: bool,
}

/// Which part of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// The fonts of a text; the first one is part of the program.
    const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";
    /// Half the height of capitals and digits, relative to the size of letters.
    const HALF_CAPITAL: f64 = 0.365;

    /// A sheet that is measured in points, as printed.
    pub(super) fn in_points(width: f64, height: f64) -> Self {
        Self::in_units(width, height, 1.0)
    }

    /// A sheet that is measured in pixels of a screen, of which 96 make an inch.
    pub(super) fn in_pixels(width: f64, height: f64) -> Self {
        Self::in_units(width.ceil(), height.ceil(), 0.75)
    }

    /// A sheet that is measured in units, each of this many points.
    pub(super) fn in_units(width: f64, height: f64, unit: f64) -> Self {
        Self { size: (width, height), unit, elements: String::new() }
    }

    /// Draws a line through these positions.
    pub(super) fn line(&mut self, spots: &[Position], pen: Pen) {
        let Pen { colour, opacity, width, dashes } = pen;
        let dashes: Vec<String> = dashes.iter().map(|length| number(*length)).collect();
        self.start("polyline");
        self.put("points", points(spots));
        self.put("fill", "none");
        self.put("stroke", hex(colour));
        self.put("stroke-width", number(width));
        if opacity < 1.0 {
            self.put("stroke-opacity", number(opacity));
        }
        if !dashes.is_empty() {
            self.put("stroke-dasharray", dashes.join(" "));
        }
        self.elements += "/>\n";
    }

    /// Fills the area within these corners.
    pub(super) fn area(&mut self, corners: &[Position], colour: Colour, opacity: f64) {
        self.start("polygon");
        self.put("points", points(corners));
        self.put("fill", hex(colour));
        if opacity < 1.0 {
            self.put("fill-opacity", number(opacity));
        }
        self.elements += "/>\n";
    }

    /// Draws a filled circle.
    pub(super) fn disc(&mut self, centre: Position, radius: f64, colour: Colour) {
        self.start("circle");
        self.put("cx", number(centre.0));
        self.put("cy", number(centre.1));
        self.put("r", number(radius));
        self.put("fill", hex(colour));
        self.elements += "/>\n";
    }

    /// Writes a text at this position.
    pub(super) fn text(&mut self, spot: Position, text: &str, lettering: TextStyle) {
        let TextStyle { size, colour, anchor, upwards } = lettering;
        let down = Self::HALF_CAPITAL * size;
        let (x, y) = if upwards { (spot.0 + down, spot.1) } else { (spot.0, spot.1 + down) };
        self.start("text");
        self.put("x", number(x));
        self.put("y", number(y));
        self.put("font-size", number(size));
        self.put("fill", hex(colour));
        if anchor != TextAnchor::Start {
            self.put("text-anchor", if anchor == TextAnchor::Middle { "middle" } else { "end" });
        }
        if upwards {
            self.put("transform", format!("rotate(-90 {} {})", number(x), number(y)));
        }
        _ = writeln!(self.elements, ">{}</text>", escaped(text));
    }

    /// Draws within a group with a class, by which it can be found and styled.
    pub(super) fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        _ = writeln!(self.elements, "<g class=\"{class}\">");
        draw(self);
        self.elements += "</g>\n";
    }

    /// The whole sheet as an SVG document.
    pub(super) fn into_svg(self) -> String {
        let (width, height) = (number(self.size.0), number(self.size.1));
        let [printed_width, printed_height] = [self.size.0, self.size.1].map(|length| number(length * self.unit));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{printed_width}pt\" height=\"{printed_height}pt\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{}\" stroke-linejoin=\"round\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            Self::FONTS,
            self.elements
        )
    }

    /// Begins an element.
    fn start(&mut self, element: &str) {
        _ = write!(self.elements, "<{element}");
    }

    /// Adds an attribute.
    fn put(&mut self, attribute: &str, value: impl AsRef<str>) {
        _ = write!(self.elements, " {attribute}=\"{}\"", value.as_ref());
    }
}

/// Writes positions as the value of an attribute.
fn points(spots: &[Position]) -> String {
    let pairs: Vec<String> = spots.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    pairs.join(" ")
}

/// Writes a number to a hundredth of a unit, which is finer than anybody sees.
fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // A negative zero would be written as -0.
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Writes a colour as the value of an attribute.
fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes a text for XML, which may not contain control characters.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        control if control.is_control() => '\u{FFFD}'.to_string(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::super::palette::{INK, text_style};
    use super::*;

    fn drawn_by(draw: impl FnOnce(&mut Canvas)) -> String {
        let mut canvas = Canvas::in_points(30.0, 20.0);
        draw(&mut canvas);
        canvas.into_svg()
    }

    #[test]
    fn a_sheet_has_its_printed_size() {
        let svg = drawn_by(|canvas| canvas.disc((1.5, 2.046), 3.0, INK));
        assert!(svg.contains(r#"width="30pt" height="20pt" viewBox="0 0 30 20""#), "{svg}");
        assert!(svg.contains(r#"<circle cx="1.5" cy="2.05" r="3""#), "{svg}");
        let pixels = Canvas::in_pixels(40.0, 20.5).into_svg();
        assert!(pixels.contains(r#"width="30pt" height="15.75pt" viewBox="0 0 40 21""#), "{pixels}");
    }

    #[test]
    fn lines_have_their_dashes() {
        let line = |dashes| Pen { colour: INK, opacity: 0.5, width: 2.0, dashes };
        let solid = drawn_by(|canvas| canvas.line(&[(0.0, 0.0), (1.0, 2.0)], line(&[])));
        let dashed = drawn_by(|canvas| canvas.line(&[(0.0, 0.0), (1.0, 2.0)], line(&[7.0, 2.5])));
        assert!(solid.contains(r#"points="0,0 1,2""#) && solid.contains(r#"stroke-opacity="0.5""#), "{solid}");
        assert!(!solid.contains("dash") && dashed.contains(r#"stroke-dasharray="7 2.5""#), "{dashed}");
    }

    #[test]
    fn texts_may_hold_anything() {
        let svg = drawn_by(|canvas| canvas.text((1.0, 2.0), "a < b & \"c\"\u{7}", text_style(TextAnchor::End)));
        assert!(svg.contains(">a &lt; b &amp; \"c\"\u{FFFD}</text>") && svg.contains(r#"text-anchor="end""#), "{svg}");
        assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
    }
}
