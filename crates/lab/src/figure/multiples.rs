//! Small multiples: a panel for each group, where there are more groups than one frame could show.

use super::axis::Axis;
use super::canvas::{Canvas, Position, TextAnchor, TextStyle};
use super::chart::{Chart, in_words};
use super::curve::Curve;
use super::font::text_width;
use super::frame::{Frame, Titles};
use super::line_style::LineStyle;
use super::palette::{SHADE, TEXT, hairline, text_style};
use super::plot_area::PlotArea;
use super::text_fit::in_lines;

/// The panels of a chart. Each shows one curve in front of the others, all on the same axes.
pub(super) struct SmallMultiples<'a> {
    chart: &'a Chart<'a>,
    axes: (Axis, Axis),
    columns: usize,
    /// The width and the height of a panel's plot area.
    size: (f64, f64),
    /// The gap between panels of a row, where numbers of the horizontal axis meet.
    between: f64,
    /// The width beside the first column, for numbers and the title.
    left: f64,
    /// The height above each panel, for its name and its failed runs.
    head: f64,
}

impl<'a> SmallMultiples<'a> {
    /// The least width of a panel's plot area.
    const NARROWEST: f64 = 66.0;
    /// The largest number of columns.
    const MOST_COLUMNS: usize = 5;
    /// The least number of columns, for names with long words.
    const FEWEST_COLUMNS: usize = 3;
    /// The height of a panel's plot area, relative to its width.
    const PROPORTION: f64 = 0.66;
    /// The least gap between panels.
    const BETWEEN: f64 = 10.0;
    /// The height of a line of text.
    const LINE: f64 = 1.25 * TEXT;
    /// With more panels than this, the other curves are left out, as they would cover everything.
    const MOST_SHADES: usize = 40;

    /// The layout of the panels of a chart.
    pub(super) fn new(chart: &'a Chart<'a>) -> Self {
        let axes = chart.axes();
        // Which numbers there are depends on the height, and the height depends on how wide the
        // numbers are: the room suffices for all heights that are possible.
        let room = |width: f64| Frame::room_beside(&axes.1, width * Self::PROPORTION).1;
        let left = Chart::MARGIN
            + [1.0, 1.25, 1.5, 2.0].map(|times| room(times * Self::NARROWEST)).into_iter().fold(0.0, f64::max);
        let (x, y) = axes;
        let narrowest = Frame { left: 0.0, right: Self::NARROWEST, top: 0.0, bottom: 1.0, x, y };
        let between = Self::BETWEEN.max(narrowest.overhang() + TEXT);
        let inner = chart.width - left - Chart::MARGIN;
        let most = ((inner / (Self::NARROWEST + between)) as usize).clamp(1, Self::MOST_COLUMNS);
        let labels = chart.curves.iter().flat_map(|curve| [&curve.label, &curve.failures]);
        let words = labels.flat_map(|label| label.split_whitespace());
        let longest = words.map(|word| text_width(word, TEXT)).fold(0.0, f64::max);
        // Fewer columns where the words of names would not fit otherwise: names that lose their
        // middle may look the same.
        let fits = |columns: &usize| inner / *columns as f64 - TEXT / 2.0 >= longest;
        let columns = (Self::FEWEST_COLUMNS..=most).rev().find(fits).unwrap_or(most);
        let width = inner / columns as f64 - between;
        let mut multiples =
            Self { chart, axes, columns, size: (width, Self::PROPORTION * width), between, left, head: 0.0 };
        let lines = chart.curves.iter().map(|curve| multiples.heading(curve).len()).max().unwrap_or(0);
        multiples.head = lines as f64 * Self::LINE + 3.0;
        multiples
    }

    /// The lines above a panel.
    fn heading(&self, curve: &Curve) -> Vec<String> {
        let widest = self.size.0 + self.between - TEXT / 2.0;
        [&curve.label, &curve.failures].into_iter().flat_map(|text| in_lines(text, TEXT, widest)).collect()
    }

    /// Draws the panels as an SVG document.
    pub(super) fn svg(&self) -> String {
        let rows = self.chart.curves.len().div_ceil(self.columns);
        let bottom = self.corner(rows * self.columns - 1).1 + self.size.1;
        let mut canvas = Canvas::in_points(self.chart.width, bottom + Frame::FOOT + Chart::MARGIN);
        self.chart.draw_title(&mut canvas);
        for (place, curve) in self.chart.curves.iter().enumerate() {
            self.draw_panel(&mut canvas, place, curve);
        }
        self.draw_titles(&mut canvas, bottom);
        canvas.into_svg()
    }

    /// Draws the titles of the axes, which all panels share.
    fn draw_titles(&self, canvas: &mut Canvas, bottom: f64) {
        let ((left, top), (right, _)) = (self.corner(0), self.corner(self.columns - 1));
        let across = f64::midpoint(left, right + self.size.0);
        canvas.text(
            (across, bottom + Frame::FOOT - TEXT / 2.0),
            self.chart.effort.title(),
            text_style(TextAnchor::Middle),
        );
        let spot = (Chart::MARGIN + TEXT / 2.0, f64::midpoint(top, bottom));
        canvas.text(spot, &in_words(self.chart.metric), TextStyle { upwards: true, ..text_style(TextAnchor::Middle) });
    }

    /// The upper left corner of a panel's plot area.
    fn corner(&self, place: usize) -> Position {
        let (column, row) = ((place % self.columns) as f64, (place / self.columns) as f64);
        let down = self.head + self.size.1 + Self::BETWEEN;
        (self.left + column * (self.size.0 + self.between), self.chart.head() + self.head + row * down)
    }

    /// Draws one panel.
    fn draw_panel(&self, canvas: &mut Canvas, place: usize, curve: &Curve) {
        let ((left, top), (width, height)) = (self.corner(place), self.size);
        let (x, y) = self.axes;
        let frame = Frame { left, right: left + width, top, bottom: top + height, x, y };
        // The last panel of each column has numbers below it, also where the last row is not full.
        let is_last = place + self.columns >= self.chart.curves.len();
        let numbers = (is_last, place.is_multiple_of(self.columns));
        frame.draw(canvas, Titles { x: None, y: None, numbers });
        for (row, text) in self.heading(curve).iter().rev().enumerate() {
            let spot = (left, top - 3.0 - (row as f64 + 0.5) * Self::LINE);
            canvas.text(spot, text, text_style(TextAnchor::Start));
        }
        self.draw_curves(canvas, &PlotArea { frame, effort: self.chart.effort }, curve);
    }

    /// Draws the curve of a panel in front of the others.
    fn draw_curves(&self, canvas: &mut Canvas, area: &PlotArea, curve: &Curve) {
        let curves = self.chart.curves;
        if curves.len() <= Self::MOST_SHADES {
            let others = curves.iter().filter(|other| other.place != curve.place);
            others.for_each(|other| area.draw_shade(canvas, other, hairline(SHADE)));
        }
        let first = Curve { place: 0, ..curve.clone() };
        area.draw_band(canvas, &first);
        area.draw_line(canvas, &first, LineStyle::of(0), false);
    }
}
