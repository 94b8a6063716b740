//! A chart with all curves in one frame.

use super::canvas::Canvas;
use super::chart::{Chart, in_words};
use super::frame::{Frame, Titles};
use super::legend::Legend;
use super::palette::TEXT;
use super::plot_area::PlotArea;

/// The height of the plot area, relative to its width.
const PROPORTION: f64 = 0.62;
/// The least height of the plot area.
const LEAST_HEIGHT: f64 = 90.0;
/// Sheets of at least this width have the legend beside the frame, narrower ones above it.
const WIDE: f64 = 330.0;
/// The largest part of the width that a legend beside the frame takes.
const LEGEND: f64 = 0.36;

/// Draws the chart as an SVG document.
pub(super) fn svg(chart: &Chart<'_>) -> String {
    let beside = Legend::beside(chart.curves);
    let narrow = chart.width < WIDE || beside.width() > LEGEND * chart.width;
    let legend = if narrow { Legend::above(chart.curves, chart.width - 2.0 * Chart::MARGIN) } else { beside };
    let (above, beside) =
        if narrow { (legend.height() + Chart::GAP, 0.0) } else { (0.0, legend.width() + 2.0 * Chart::GAP) };
    let frame = frame(chart, chart.head() + above, chart.width - Chart::MARGIN - beside);
    let lowest = (frame.bottom + Frame::FOOT).max(if narrow { 0.0 } else { frame.top + legend.height() });
    let mut canvas = Canvas::in_points(chart.width, lowest + Chart::MARGIN);
    chart.draw_title(&mut canvas);
    let corner = if narrow { (Chart::MARGIN, chart.head()) } else { (frame.right + 2.0 * Chart::GAP, frame.top) };
    legend.draw(&mut canvas, corner);
    draw_curves(chart, &mut canvas, frame);
    canvas.into_svg()
}

fn draw_curves(chart: &Chart<'_>, canvas: &mut Canvas, frame: Frame) {
    let title = in_words(chart.metric);
    frame.draw(canvas, Titles { x: Some(chart.effort.title()), y: Some(&title), numbers: (true, true) });
    let area = PlotArea { frame, effort: chart.effort };
    chart.curves.iter().for_each(|curve| area.draw_band(canvas, curve));
    chart.curves.iter().for_each(|curve| area.draw_line(canvas, curve, curve.style(), true));
}

/// The frame with this upper edge, whose numbers end at `right`.
fn frame(chart: &Chart<'_>, top: f64, right: f64) -> Frame {
    let (x, y) = chart.axes();
    // Half of a number may be above the upper edge.
    let top = top + TEXT / 2.0;
    let left = |height| Chart::MARGIN + Frame::room_beside(&y, height).1;
    let height = (PROPORTION * (right - left(LEAST_HEIGHT))).max(LEAST_HEIGHT);
    let mut frame = Frame { left: left(height), right, top, bottom: top + height, x, y };
    frame.right -= frame.overhang();
    frame
}
