//! The frame of a chart: two axes, and the area between them.

use super::axis::{Axis, Tick};
use super::canvas::{Canvas, Lettering, Side, Spot};
use super::lettering::text_width;
use super::palette::{GREY, INK, hairline, letters};

/// The plot area of a chart.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Frame {
    const NUMBERS: f64 = 13.0;
    const TITLES: f64 = 14.0;
    /// Between the area and the numbers beside it.
    const GAP: f64 = 8.0;

    /// How much room the numbers and the title of a vertical axis take.
    pub(super) fn room_for(axis: &Axis) -> f64 {
        let width = |tick: &Tick| text_width(&tick.label, Self::NUMBERS);
        let numbers = axis.ticks().iter().map(width).fold(0.0, f64::max);
        Self::TITLES + 2.5 * Self::GAP + numbers
    }

    /// Where a pair of values is.
    pub(super) fn spot(&self, x: f64, y: f64) -> Spot {
        (self.across(x), self.up(y))
    }

    /// The part of a line before it leaves the area at the top or the bottom, up to the very edge.
    pub(super) fn until_it_leaves(&self, spots: Vec<Spot>) -> Vec<Spot> {
        let outside = |&(_, y): &Spot| !(self.top..=self.bottom).contains(&y);
        match spots.iter().position(outside) {
            None => spots,
            Some(0) => Vec::new(),
            Some(exit) => {
                let ((x0, y0), (x1, y1)) = (spots[exit - 1], spots[exit]);
                let edge = y1.clamp(self.top, self.bottom);
                let crossing = (x0 + (x1 - x0) * (edge - y0) / (y1 - y0), edge);
                spots[..exit].iter().copied().chain([crossing]).collect()
            }
        }
    }

    /// Draws the grid and the axes with their numbers and titles.
    pub(super) fn draw(&self, canvas: &mut Canvas, x_title: &str, y_title: &str) {
        self.draw_columns(canvas);
        self.draw_rows(canvas);
        let axes = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)];
        canvas.line(&axes, hairline(INK));
        let (middle, centre) = (f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom));
        let below = self.bottom + 2.5 * Self::GAP + Self::NUMBERS + Self::TITLES / 2.0;
        let beside = self.left - Self::room_for(&self.y) + Self::TITLES / 2.0;
        canvas.text((middle, below), x_title, letters(Self::TITLES, Side::Middle));
        let upwards = Lettering { upwards: true, ..letters(Self::TITLES, Side::Middle) };
        canvas.text((beside, centre), y_title, upwards);
    }

    fn draw_columns(&self, canvas: &mut Canvas) {
        for Tick { value, label } in self.x.ticks() {
            let x = self.across(value);
            canvas.line(&[(x, self.top), (x, self.bottom)], hairline(GREY));
            let below = self.bottom + Self::GAP + Self::NUMBERS / 2.0;
            canvas.text((x, below), &label, letters(Self::NUMBERS, Side::Middle));
        }
    }

    fn draw_rows(&self, canvas: &mut Canvas) {
        for Tick { value, label } in self.y.ticks() {
            let y = self.up(value);
            canvas.line(&[(self.left, y), (self.right, y)], hairline(GREY));
            canvas.text((self.left - Self::GAP, y), &label, letters(Self::NUMBERS, Side::End));
        }
    }

    fn across(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.place(value)
    }

    fn up(&self, value: f64) -> f64 {
        self.bottom + (self.top - self.bottom) * self.y.place(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Unit;
    use super::*;

    fn frame() -> Frame {
        let x = Axis::up_to(10.0, Unit::Plain);
        Frame { left: 100.0, right: 600.0, top: 50.0, bottom: 450.0, x, y: Axis::up_to(4.0, Unit::Plain) }
    }

    #[test]
    fn values_go_right_and_up() {
        assert_eq!(frame().spot(0.0, 0.0), (100.0, 450.0));
        assert_eq!(frame().spot(5.0, 3.0), (350.0, 150.0));
    }

    #[test]
    fn a_line_ends_at_the_edge_where_it_leaves() {
        let line = |values: &[f64]| -> Vec<Spot> {
            let spots = values.iter().enumerate().map(|(x, y)| frame().spot(x as f64, *y));
            frame().until_it_leaves(spots.collect())
        };
        assert_eq!(line(&[1.0, 2.0, 3.0]).len(), 3);
        // From 2 at 1 to 6 at 2, it passes the upper edge, 4, half-way.
        assert_eq!(line(&[1.0, 2.0, 6.0, 1.0])[1..], [frame().spot(1.0, 2.0), frame().spot(1.5, 4.0)]);
        assert_eq!(line(&[1.0, -1.0])[1], frame().spot(0.5, 0.0));
        assert_eq!(line(&[5.0, 1.0]), []);
    }
}
