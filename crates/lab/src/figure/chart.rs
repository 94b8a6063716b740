//! A chart: how a metric changes with rounds, seconds or bytes.

use super::axis::Axis;
use super::canvas::{Canvas, TextAnchor, TextStyle};
use super::curve::Curve;
use super::effort::Effort;
use super::limits::vertical;
use super::palette::text_style;
use super::text_fit::shortened;

/// A metric over its effort, with a line for each group.
pub(super) struct Chart<'a> {
    /// The title above the chart; in print a caption takes its place.
    pub(super) title: Option<&'a str>,
    /// The name of the metric.
    pub(super) metric: &'a str,
    /// The effort on the horizontal axis.
    pub(super) effort: Effort,
    /// The curves, one for each group.
    pub(super) curves: &'a [Curve],
    /// The width of the sheet, in points.
    pub(super) width: f64,
}

impl Chart<'_> {
    /// The margin at the edges of the sheet.
    pub(super) const MARGIN: f64 = 4.0;
    /// The gap between parts of the chart.
    pub(super) const GAP: f64 = 6.0;
    /// The size of the title's letters.
    const TITLE: f64 = 9.0;

    /// The height that the title takes, with a gap below it.
    pub(super) fn head(&self) -> f64 {
        Self::MARGIN + if self.title.is_some() { Self::TITLE + 1.5 * Self::GAP } else { 0.0 }
    }

    /// Draws the title, if there is one.
    pub(super) fn draw_title(&self, canvas: &mut Canvas) {
        let Some(title) = self.title else { return };
        let title = shortened(title, Self::TITLE, self.width - 2.0 * Self::MARGIN);
        let style = TextStyle { size: Self::TITLE, ..text_style(TextAnchor::Start) };
        canvas.text((Self::MARGIN, Self::MARGIN + Self::TITLE / 2.0), &title, style);
    }

    /// The horizontal and the vertical axis.
    pub(super) fn axes(&self) -> (Axis, Axis) {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let furthest = points.map(|point| self.effort.of(point)).fold(0.0, f64::max);
        (Axis::up_to(furthest, self.effort.unit()), vertical(self.metric, self.curves))
    }
}

/// The name of a metric as the title of an axis.
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
