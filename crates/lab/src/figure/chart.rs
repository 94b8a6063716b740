//! A chart: how a metric changes with rounds, seconds or bytes.

use super::area::Area;
use super::axis::Axis;
use super::canvas::{Canvas, Lettering, Side};
use super::curve::Curve;
use super::effort::Effort;
use super::frame::{Frame, Titles};
use super::legend::Legend;
use super::lettering::shortened;
use super::limits::vertical;
use super::multiples::Multiples;
use super::palette::{Look, TEXT, letters};

/// A metric over what it took, a line for each group.
pub(super) struct Chart<'a> {
    /// Above the chart; in print a caption says it.
    pub(super) title: Option<&'a str>,
    pub(super) metric: &'a str,
    pub(super) effort: Effort,
    pub(super) curves: &'a [Curve],
    /// Of the sheet, in points.
    pub(super) width: f64,
}

impl Chart<'_> {
    /// At the edges of the sheet.
    pub(super) const MARGIN: f64 = 4.0;
    /// Between parts of the chart.
    pub(super) const GAP: f64 = 6.0;
    const TITLE: f64 = 9.0;
    /// Of the plot area, relative to its width.
    const PROPORTION: f64 = 0.62;
    const LEAST_HEIGHT: f64 = 90.0;
    /// A legend is beside the frame on sheets of this width, where it takes up to a part of it, and else above.
    const WIDE: f64 = 330.0;
    const LEGEND: f64 = 0.36;

    /// The chart as an SVG document.
    pub(super) fn svg(&self) -> String {
        if self.curves.len() > Look::MOST { Multiples::new(self).svg() } else { self.together() }
    }

    /// All curves in one frame.
    fn together(&self) -> String {
        let beside = Legend::beside(self.curves);
        let narrow = self.width < Self::WIDE || beside.width() > Self::LEGEND * self.width;
        let legend = if narrow { Legend::above(self.curves, self.width - 2.0 * Self::MARGIN) } else { beside };
        let (above, beside) =
            if narrow { (legend.height() + Self::GAP, 0.0) } else { (0.0, legend.width() + 2.0 * Self::GAP) };
        let frame = self.frame(self.head() + above, self.width - Self::MARGIN - beside);
        let lowest = (frame.bottom + Frame::FOOT).max(if narrow { 0.0 } else { frame.top + legend.height() });
        let mut canvas = Canvas::in_points(self.width, lowest + Self::MARGIN);
        self.draw_title(&mut canvas);
        let corner = if narrow { (Self::MARGIN, self.head()) } else { (frame.right + 2.0 * Self::GAP, frame.top) };
        legend.draw(&mut canvas, corner);
        self.draw_curves(&mut canvas, frame);
        canvas.into_svg()
    }

    fn draw_curves(&self, canvas: &mut Canvas, frame: Frame) {
        let title = in_words(self.metric);
        frame.draw(canvas, Titles { x: Some(self.effort.title()), y: Some(&title), numbers: (true, true) });
        let area = Area { frame, effort: self.effort };
        self.curves.iter().for_each(|curve| area.draw_band(canvas, curve));
        self.curves.iter().for_each(|curve| area.draw_line(canvas, curve, curve.look(), true));
    }

    /// How much the title takes, with a gap below it.
    pub(super) fn head(&self) -> f64 {
        Self::MARGIN + if self.title.is_some() { Self::TITLE + 1.5 * Self::GAP } else { 0.0 }
    }

    pub(super) fn draw_title(&self, canvas: &mut Canvas) {
        let Some(title) = self.title else { return };
        let title = shortened(title, Self::TITLE, self.width - 2.0 * Self::MARGIN);
        let lettering = Lettering { size: Self::TITLE, ..letters(Side::Start) };
        canvas.text((Self::MARGIN, Self::MARGIN + Self::TITLE / 2.0), &title, lettering);
    }

    /// The frame whose upper edge is here, and whose numbers end here.
    fn frame(&self, top: f64, right: f64) -> Frame {
        let (x, y) = self.axes();
        // Half of a number may be above the upper edge.
        let top = top + TEXT / 2.0;
        let left = |height| Self::MARGIN + Frame::room_beside(&y, height).1;
        let height = (Self::PROPORTION * (right - left(Self::LEAST_HEIGHT))).max(Self::LEAST_HEIGHT);
        let mut frame = Frame { left: left(height), right, top, bottom: top + height, x, y };
        frame.right -= frame.overhang();
        frame
    }

    pub(super) fn axes(&self) -> (Axis, Axis) {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let furthest = points.map(|point| self.effort.of(point)).fold(0.0, f64::max);
        (Axis::up_to(furthest, self.effort.unit()), vertical(self.metric, self.curves))
    }
}

/// A metric as an axis calls it.
pub(super) fn in_words(metric: &str) -> String {
    match metric {
        "upper" => "upper objective".to_owned(),
        "lower" => "lower objective".to_owned(),
        "hypergradient" => "hypergradient norm".to_owned(),
        "consensus" => "consensus error".to_owned(),
        "auc" => "AUC".to_owned(),
        other => other.replace('_', " "),
    }
}
