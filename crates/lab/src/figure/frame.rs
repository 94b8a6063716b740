//! The frame of a chart: two axes and the area between them.

use super::axis::{Axis, Tick};
use super::canvas::{Canvas, Pen, Position, TextAnchor, TextStyle};
use super::font::text_width;
use super::palette::{GREY, INK, TEXT, hairline, text_style};

/// The plot area of a chart.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// Which axes have numbers and titles: frames side by side share them.
#[derive(Clone, Copy)]
pub(super) struct Titles<'a> {
    pub(super) x: Option<&'a str>,
    pub(super) y: Option<&'a str>,
    /// Whether there are numbers along the horizontal and along the vertical axis.
    pub(super) numbers: (bool, bool),
}

impl Frame {
    /// The gap between the area and the numbers beside it.
    const GAP: f64 = 3.5;
    /// The gap between numbers and a title.
    const TITLE_GAP: f64 = 4.0;
    /// The height below the area that numbers and the title of the horizontal axis take.
    pub(super) const FOOT: f64 = Self::GAP + TEXT + Self::TITLE_GAP + TEXT;
    /// The length that a number takes along a vertical axis.
    const LINE: f64 = 2.0 * TEXT;

    /// The width that the numbers of a vertical axis of this length take, without and with its
    /// title.
    pub(super) fn room_beside(axis: &Axis, length: f64) -> (f64, f64) {
        let ticks = axis.ticks(length, |_| Self::LINE);
        let numbers = ticks.iter().map(|tick| text_width(&tick.label, TEXT)).fold(0.0, f64::max) + Self::GAP;
        (numbers, numbers + Self::TITLE_GAP + TEXT)
    }

    /// How far the numbers of the horizontal axis reach beyond its right end.
    pub(super) fn overhang(&self) -> f64 {
        let reach = |tick: &Tick| self.across(tick.value) + text_width(&tick.label, TEXT) / 2.0 - self.right;
        self.columns().iter().map(reach).fold(0.0, f64::max)
    }

    /// The position of a pair of values. Infinite values are far outside of the frame.
    pub(super) fn spot(&self, x: f64, y: f64) -> Position {
        (self.across(x), self.up(y))
    }

    /// The heights between which lines are drawn.
    pub(super) fn strip(&self) -> (f64, f64) {
        (self.top, self.bottom)
    }

    /// Draws the grid and the axes with their numbers and titles.
    pub(super) fn draw(&self, canvas: &mut Canvas, titles: Titles<'_>) {
        self.draw_columns(canvas, titles.numbers.0);
        self.draw_rows(canvas, titles.numbers.1);
        let axes = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)];
        canvas.line(&axes, Pen { width: 0.7, ..hairline(INK) });
        if let Some(title) = titles.x {
            let below = self.bottom + Self::FOOT - TEXT / 2.0;
            canvas.text((f64::midpoint(self.left, self.right), below), title, text_style(TextAnchor::Middle));
        }
        if let Some(title) = titles.y {
            let (_, room) = Self::room_beside(&self.y, self.bottom - self.top);
            let spot = (self.left - room + TEXT / 2.0, f64::midpoint(self.top, self.bottom));
            canvas.text(spot, title, TextStyle { upwards: true, ..text_style(TextAnchor::Middle) });
        }
    }

    /// Draws the vertical grid lines, with their numbers.
    fn draw_columns(&self, canvas: &mut Canvas, numbers: bool) {
        for Tick { value, label } in self.columns() {
            let x = self.across(value);
            canvas.line(&[(x, self.top), (x, self.bottom)], hairline(GREY));
            if numbers {
                canvas.text((x, self.bottom + Self::GAP + TEXT / 2.0), &label, text_style(TextAnchor::Middle));
            }
        }
    }

    /// Draws the horizontal grid lines, with their numbers.
    fn draw_rows(&self, canvas: &mut Canvas, numbers: bool) {
        for Tick { value, label } in self.y.ticks(self.bottom - self.top, |_| Self::LINE) {
            let y = self.up(value);
            canvas.line(&[(self.left, y), (self.right, y)], hairline(GREY));
            if numbers {
                canvas.text((self.left - Self::GAP, y), &label, text_style(TextAnchor::End));
            }
        }
    }

    /// The values that are marked along the horizontal axis.
    fn columns(&self) -> Vec<Tick> {
        self.x.ticks(self.right - self.left, |label| text_width(label, TEXT) + TEXT)
    }

    /// The horizontal position of a value.
    fn across(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.place(value)
    }

    /// The vertical position of a value.
    fn up(&self, value: f64) -> f64 {
        // Positions this far outside count as infinite. Values that a logarithmic axis has no place
        // for are below it.
        let place = self.y.place(value);
        let place = if place.is_nan() { -9.0 } else { place.clamp(-9.0, 10.0) };
        self.bottom + (self.top - self.bottom) * place
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::AxisUnit;
    use super::*;

    #[test]
    fn values_go_right_and_up() {
        let (x, y) = (Axis::up_to(10.0, AxisUnit::Plain), Axis::up_to(4.0, AxisUnit::Plain));
        let frame = Frame { left: 100.0, right: 600.0, top: 50.0, bottom: 450.0, x, y };
        assert_eq!(frame.spot(0.0, 0.0), (100.0, 450.0));
        assert_eq!(frame.spot(5.0, 3.0), (350.0, 150.0));
        let (_, above) = frame.spot(5.0, f64::INFINITY);
        let (_, below) = frame.spot(5.0, f64::NEG_INFINITY);
        assert!(above < frame.top && below > frame.bottom && above.is_finite() && below.is_finite());
        let logarithmic = Frame { y: Axis::logarithmic(1e-3, 1.0), ..frame };
        assert_eq!([0.0, -1.0].map(|value| logarithmic.spot(5.0, value).1), [below; 2]);
    }
}
