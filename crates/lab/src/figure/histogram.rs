//! Histograms among the findings of problems: stacked bars with marked values.

use fabnet_core::finding::Histogram;

use super::axis::{Axis, AxisUnit};
use super::canvas::{Canvas, Colour, Pen, TextAnchor, TextStyle};
use super::font::text_width;
use super::palette::{BLUE, GREY, INK, VERMILION, text_style_of};

/// The frame of the bars: left, top, width and height.
const FRAME: (f64, f64, f64, f64) = (76.0, 48.0, 640.0, 300.0);
/// The size of the whole sheet.
const SHEET: (f64, f64) = (740.0, 440.0);
/// The size of the title's letters, and of others.
const LETTERS: (f64, f64) = (16.0, 12.0);
/// The colours of stacked counts, from the bottom up.
const COLOURS: [Colour; 2] = [BLUE, VERMILION];
/// The pen of marked values.
const MARK: Pen = Pen { colour: INK, opacity: 0.6, width: 1.2, dashes: &[5.0, 3.0] };

/// Draws a histogram.
pub(super) fn histogram(title: &str, histogram: &Histogram) -> String {
    let mut canvas = Canvas::in_pixels(SHEET.0, SHEET.1);
    canvas.text((SHEET.0 / 2.0, FRAME.1 / 2.0), title, text_style_of(LETTERS.0, TextAnchor::Middle));
    let highest = heights(histogram).into_iter().max().unwrap_or(0);
    let counts = Axis::up_to(highest as f64, AxisUnit::Plain);
    count_axis(&mut canvas, &counts);
    bars(&mut canvas, histogram, &counts);
    value_axis(&mut canvas, histogram);
    legend(&mut canvas, histogram);
    canvas.into_svg()
}

/// The height of each stack.
fn heights(histogram: &Histogram) -> Vec<u64> {
    let bars = histogram.series.first().map_or(0, |series| series.counts.len());
    (0..bars).map(|bar| histogram.series.iter().map(|series| series.counts[bar]).sum()).collect()
}

/// Draws the vertical axis with its grid lines.
fn count_axis(canvas: &mut Canvas, axis: &Axis) {
    let (left, top, width, height) = FRAME;
    for tick in axis.ticks(height, |_| 2.0 * LETTERS.1) {
        let y = top + height * (1.0 - axis.place(tick.value));
        canvas.line(&[(left, y), (left + width, y)], Pen { colour: GREY, opacity: 1.0, width: 1.0, dashes: &[] });
        canvas.text((left - 8.0, y), &tick.label, text_style_of(LETTERS.1, TextAnchor::End));
    }
    let style = TextStyle { upwards: true, ..text_style_of(LETTERS.1, TextAnchor::Middle) };
    canvas.text((18.0, top + height / 2.0), "samples", style);
}

fn bars(canvas: &mut Canvas, histogram: &Histogram, axis: &Axis) {
    let (left, top, width, height) = FRAME;
    let wide = width / heights(histogram).len().max(1) as f64;
    for bar in 0..heights(histogram).len() {
        let mut below = 0;
        for (series, colour) in histogram.series.iter().zip(COLOURS.iter().cycle()) {
            let count = series.counts[bar];
            let y = |count: u64| top + height * (1.0 - axis.place(count as f64));
            let (start, end) = (left + bar as f64 * wide + 0.5, left + (bar + 1) as f64 * wide - 0.5);
            let corners = [(start, y(below)), (end, y(below)), (end, y(below + count)), (start, y(below + count))];
            if count > 0 {
                canvas.area(&corners, *colour, 0.85);
            }
            below += count;
        }
    }
}

/// Draws the horizontal axis and the marked values.
fn value_axis(canvas: &mut Canvas, histogram: &Histogram) {
    let (left, top, width, height) = FRAME;
    let (low, high) = histogram.range;
    let x = |value: f64| left + width * (value - low) / (high - low);
    let bottom = top + height;
    canvas.line(&[(left, bottom), (left + width, bottom)], Pen { colour: INK, opacity: 1.0, width: 1.0, dashes: &[] });
    for tick in Axis::up_to(high - low, AxisUnit::Plain).ticks(width, |label| 2.0 * text_width(label, LETTERS.1)) {
        canvas.text((x(low + tick.value), bottom + 16.0), &tick.label, text_style_of(LETTERS.1, TextAnchor::Middle));
    }
    canvas.text((left + width / 2.0, bottom + 38.0), &histogram.axis, text_style_of(LETTERS.1, TextAnchor::Middle));
    for &mark in &histogram.marks {
        canvas.line(&[(x(mark), top), (x(mark), bottom)], MARK);
    }
}

/// Names the colours and the marked values below the axis.
fn legend(canvas: &mut Canvas, histogram: &Histogram) {
    let y = SHEET.1 - 26.0;
    let mut x = FRAME.0;
    let mut entry = |canvas: &mut Canvas, name: &str, colour: Option<Colour>| {
        match colour {
            Some(colour) => {
                let corners = [(x, y - 6.0), (x + 22.0, y - 6.0), (x + 22.0, y + 6.0), (x, y + 6.0)];
                canvas.area(&corners, colour, 0.85);
            }
            None => canvas.line(&[(x, y), (x + 22.0, y)], MARK),
        }
        canvas.text((x + 28.0, y), name, text_style_of(LETTERS.1, TextAnchor::Start));
        x += 52.0 + text_width(name, LETTERS.1);
    };
    for (series, colour) in histogram.series.iter().zip(COLOURS.iter().cycle()) {
        entry(canvas, &series.name, Some(*colour));
    }
    if !histogram.marks.is_empty() {
        entry(canvas, &histogram.marks_name, None);
    }
}
