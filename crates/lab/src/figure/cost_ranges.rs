//! The figure of what methods need: a row for each, with its median and its quartiles.

use super::axis::Axis;
use super::canvas::{Canvas, Pen, TextAnchor};
use super::font::text_width;
use super::palette::{BLUE, GREY, INK, TEXT, hairline, text_style, text_style_of};

/// What methods need until they reach a target, on a logarithmic axis.
pub(crate) struct CostRanges<'a> {
    /// The title above.
    pub(crate) title: &'a str,
    /// What is counted.
    pub(crate) axis: &'a str,
    /// The methods, each with its lower quartile, median and upper quartile; none if it never
    /// reaches the target. Infinite quartiles end at the edge.
    pub(crate) rows: &'a [(String, Option<[f64; 3]>)],
}

impl CostRanges<'_> {
    /// The margin at the edges of the sheet.
    const MARGIN: f64 = 6.0;
    /// The height of a row.
    const ROW: f64 = 13.0;
    /// The height of the title, with a gap below it.
    const HEAD: f64 = 24.0;
    /// The height below the rows, for numbers and the title of the axis.
    const FOOT: f64 = 30.0;
    /// The width of the area in which ranges are drawn.
    const WIDTH: f64 = 300.0;
    /// The line from the lower to the upper quartile.
    const RANGE: Pen = Pen { colour: BLUE, opacity: 0.5, width: 4.0, dashes: &[] };

    /// The figure as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let names = self.rows.iter().map(|(name, _)| text_width(name, TEXT)).fold(0.0, f64::max);
        let left = 2.0 * Self::MARGIN + names;
        let bottom = Self::HEAD + self.rows.len() as f64 * Self::ROW;
        let width = left + Self::WIDTH + 4.0 * Self::MARGIN;
        let mut canvas = Canvas::in_points(width, bottom + Self::FOOT);
        canvas.text((Self::MARGIN, Self::HEAD / 2.0), self.title, text_style_of(9.0, TextAnchor::Start));
        let axis = self.axis();
        self.draw_axis(&mut canvas, &axis, (left, bottom));
        for (place, (name, range)) in self.rows.iter().enumerate() {
            let y = Self::HEAD + (place as f64 + 0.5) * Self::ROW;
            canvas.text((left - Self::MARGIN, y), name, text_style(TextAnchor::End));
            match range {
                Some(range) => draw_range(&mut canvas, range.map(|value| left + Self::WIDTH * across(&axis, value)), y),
                None => canvas.text((left + Self::WIDTH, y), "never", text_style(TextAnchor::End)),
            }
        }
        canvas.into_svg()
    }

    /// The axis, on which all finite values have a place.
    fn axis(&self) -> Axis {
        let values = self.rows.iter().filter_map(|(_, range)| *range).flatten();
        let finite = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = finite.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if low < high {
            Axis::logarithmic(low, high)
        } else {
            Axis::logarithmic(high.max(1.0) / 2.0, high.max(1.0) * 2.0)
        }
    }

    fn draw_axis(&self, canvas: &mut Canvas, axis: &Axis, (left, bottom): (f64, f64)) {
        for tick in axis.ticks(Self::WIDTH, |label| text_width(label, TEXT) + TEXT) {
            let x = left + Self::WIDTH * axis.place(tick.value);
            canvas.line(&[(x, Self::HEAD), (x, bottom)], hairline(GREY));
            canvas.text((x, bottom + TEXT), &tick.label, text_style(TextAnchor::Middle));
        }
        canvas.line(&[(left, bottom), (left + Self::WIDTH, bottom)], hairline(INK));
        canvas.text((left + Self::WIDTH / 2.0, bottom + 2.6 * TEXT), self.axis, text_style(TextAnchor::Middle));
    }
}

/// The place of a value along the axis, from 0 to 1.
fn across(axis: &Axis, value: f64) -> f64 {
    if value.is_infinite() { 1.0 } else { axis.place(value) }
}

/// Draws a range and its median at these horizontal positions.
fn draw_range(canvas: &mut Canvas, [low, median, high]: [f64; 3], y: f64) {
    canvas.line(&[(low, y), (high, y)], CostRanges::RANGE);
    canvas.disc((median, y), 2.4, BLUE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_row_and_larger_costs_are_further_right() {
        let rows = [
            ("fast".to_owned(), Some([10.0, 20.0, 30.0])),
            ("slow".to_owned(), Some([200.0, 300.0, f64::INFINITY])),
            ("other".to_owned(), None),
        ];
        let svg = CostRanges { title: "Rounds", axis: "rounds", rows: &rows }.svg();
        let places: Vec<f64> =
            svg.split("cx=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
        assert!(places.len() == 2 && places[0] < places[1], "{places:?}");
        assert!(svg.contains("never") && ["fast", "slow", "other"].iter().all(|name| svg.contains(name)), "{svg}");
    }
}
