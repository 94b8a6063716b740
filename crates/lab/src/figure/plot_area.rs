//! Drawing curves within a frame.

use super::canvas::{Canvas, Pen, Position};
use super::curve::{Curve, CurvePoint};
use super::effort::Effort;
use super::frame::Frame;
use super::line_style::LineStyle;
use super::marker::draw_exit;
use super::path::{clip, height_at, simplified};

/// The frame in which curves are drawn, and the effort on its horizontal axis.
pub(super) struct PlotArea {
    pub(super) frame: Frame,
    pub(super) effort: Effort,
}

impl PlotArea {
    /// The opacity of bands, through which lines are seen.
    const BAND: f64 = 0.15;
    /// The deviation of a simplified line, in points, which is too small to be seen.
    const TOLERANCE: f64 = 0.08;
    /// The least distance between the marks of a line that leaves again and again.
    const EXITS_APART: f64 = 9.0;

    /// Draws the band of a curve, cut off at the frame.
    pub(super) fn draw_band(&self, canvas: &mut Canvas, curve: &Curve) {
        if !curve.has_band() {
            return;
        }
        let points = self.visible(curve);
        let (top, bottom) = self.frame.strip();
        let edge = |x: f64, value: f64| (x, self.frame.spot(0.0, value).1.clamp(top, bottom));
        let upper: Vec<Position> = points.iter().map(|(point, x)| edge(*x, point.spread.high)).collect();
        let lower: Vec<Position> = points.iter().rev().map(|(point, x)| edge(*x, point.spread.low)).collect();
        let corners = [upper, lower].map(|side| simplified(&side, Self::TOLERANCE)).concat();
        canvas.group("band", |canvas| canvas.area(&corners, curve.style().colour, Self::BAND));
    }

    /// Draws the line of a curve, with marks where it leaves the frame, and with markers if wanted.
    pub(super) fn draw_line(&self, canvas: &mut Canvas, curve: &Curve, style: LineStyle, markers: bool) {
        let spots = self.line(curve);
        let clipped = clip(&spots, self.frame.strip(), Self::EXITS_APART);
        canvas.group("curve", |canvas| {
            for piece in &clipped.pieces {
                canvas.line(&simplified(piece, Self::TOLERANCE), style.pen());
                if piece.len() == 1 {
                    style.marker.draw(canvas, piece[0], style.colour);
                }
            }
            for &(spot, upwards) in &clipped.exits {
                draw_exit(canvas, spot, upwards, style.colour);
            }
        });
        if markers {
            let places = marker_places(&spots, curve.place);
            let spot = |x: f64| clipped.pieces.iter().find_map(|piece| Some((x, height_at(piece, x)?)));
            places.into_iter().filter_map(spot).for_each(|spot| style.marker.draw(canvas, spot, style.colour));
        }
    }

    /// Draws the line of a curve thinly, so that another one can be compared with it.
    pub(super) fn draw_shade(&self, canvas: &mut Canvas, curve: &Curve, pen: Pen) {
        /// The deviation of these lines, which is coarser because there are many.
        const TOLERANCE: f64 = 0.3;
        for piece in clip(&self.line(curve), self.frame.strip(), Self::EXITS_APART).pieces {
            canvas.line(&simplified(&piece, TOLERANCE), pen);
        }
    }

    /// The positions of a curve's line, also those outside of the frame.
    fn line(&self, curve: &Curve) -> Vec<Position> {
        self.visible(curve).iter().map(|(point, x)| (*x, self.frame.spot(0.0, point.spread.line).1)).collect()
    }

    /// The points of a curve from the first that has a place, with their horizontal positions: a
    /// logarithmic axis has no place for the zero at which many metrics start.
    fn visible<'c>(&self, curve: &'c Curve) -> Vec<(&'c CurvePoint, f64)> {
        let nowhere = |point: &&CurvePoint| self.frame.y.is_logarithmic() && point.spread.line <= 0.0;
        let mut furthest = f64::NEG_INFINITY;
        let placed = curve.points.iter().skip_while(nowhere).map(|point| {
            // Seconds are means over runs. When a slow run ends, the mean falls, but the line must
            // not go back.
            furthest = f64::max(furthest, self.frame.spot(self.effort.of(point), 1.0).0);
            (point, furthest)
        });
        placed.collect()
    }
}

/// The horizontal positions of a line's markers: evenly along the line, and between those of other
/// lines that may coincide with it.
fn marker_places(spots: &[Position], place: usize) -> Vec<f64> {
    /// The least distance between the markers of a line.
    const APART: f64 = 36.0;
    /// The largest number of markers of a line.
    const MOST: f64 = 5.0;
    let (Some((start, _)), Some((end, _))) = (spots.first(), spots.last()) else { return Vec::new() };
    let count = ((end - start) / APART).round().clamp(1.0, MOST);
    let shift = ((place % LineStyle::MOST) as f64 + 0.5) / LineStyle::MOST as f64;
    (0..count as usize).map(|number| start + (end - start) * (number as f64 + shift) / count).collect()
}

#[cfg(test)]
mod tests {
    use super::super::axis::{Axis, AxisUnit};
    use super::super::band::BandValue;
    use super::super::limits::vertical;
    use super::*;

    fn curve(place: usize, values: &[(f64, f64)]) -> Curve {
        let point = |(place, &(line, off)): (usize, &(f64, f64))| {
            let round = 10.0 * place as f64;
            CurvePoint {
                round,
                seconds: round,
                bytes: round,
                spread: BandValue { line, low: line - off, high: line + off },
            }
        };
        let points = values.iter().enumerate().map(point).collect();
        Curve { label: "a".to_owned(), place, failures: String::new(), leaves: false, points }
    }

    fn area(y: Axis) -> PlotArea {
        let x = Axis::up_to(20.0, AxisUnit::Plain);
        PlotArea { frame: Frame { left: 50.0, right: 250.0, top: 10.0, bottom: 110.0, x, y }, effort: Effort::Rounds }
    }

    fn drawn_by(draw: impl FnOnce(&mut Canvas)) -> String {
        let mut canvas = Canvas::in_points(260.0, 120.0);
        draw(&mut canvas);
        canvas.into_svg()
    }

    #[test]
    fn a_line_that_leaves_is_cut_off_with_a_mark() {
        let area = area(Axis::up_to(4.0, AxisUnit::Plain));
        let line = |values: &[(f64, f64)]| {
            let curve = curve(0, values);
            drawn_by(|canvas| area.draw_line(canvas, &curve, curve.style(), false))
        };
        // From 2 at 0 to 6 at 10, it passes the upper edge, 4, half-way.
        let left = line(&[(2.0, 0.0), (6.0, 0.0), (f64::INFINITY, 0.0)]);
        assert!(left.contains(r#"points="50,60 100,10""#) && left.matches("leaves").count() == 1, "{left}");
        assert!(!line(&[(2.0, 0.0), (3.0, 0.0)]).contains("leaves"));
    }

    #[test]
    fn points_without_a_place_at_the_start_are_left_out() {
        let curve = curve(0, &[(0.0, 0.0), (1.0, 0.0), (0.01, 0.0)]);
        let area = area(vertical("consensus", std::slice::from_ref(&curve)));
        assert_eq!(area.line(&curve), [area.frame.spot(10.0, 1.0), area.frame.spot(20.0, 0.01)]);
    }

    #[test]
    fn a_band_ends_at_the_frame() {
        let curve = curve(0, &[(1.0, 0.5), (0.01, 0.02)]);
        let area = area(vertical("relative_error", std::slice::from_ref(&curve)));
        let drawn = drawn_by(|canvas| area.draw_band(canvas, &curve));
        let corners =
            [area.frame.spot(0.0, 1.5), area.frame.spot(10.0, 0.03), (150.0, 110.0), area.frame.spot(0.0, 0.5)];
        let expected = drawn_by(|canvas| {
            canvas.group("band", |canvas| canvas.area(&corners, curve.style().colour, PlotArea::BAND));
        });
        assert_eq!(drawn, expected);
    }

    #[test]
    fn markers_of_coinciding_lines_are_apart() {
        let spots = [(50.0, 60.0), (250.0, 80.0)];
        let mut places: Vec<f64> = (0..LineStyle::MOST).flat_map(|place| marker_places(&spots, place)).collect();
        places.sort_by(f64::total_cmp);
        assert_eq!(places.len(), LineStyle::MOST * 5);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 4.5), "{places:?}");
        assert_eq!(marker_places(&[], 0), Vec::<f64>::new());
    }

    #[test]
    fn a_single_point_is_seen() {
        let area = area(Axis::up_to(4.0, AxisUnit::Plain));
        for place in 0..LineStyle::MOST {
            let curve = curve(place, &[(2.0, 0.0)]);
            let drawn = drawn_by(|canvas| area.draw_line(canvas, &curve, curve.style(), true));
            // A line through one position draws nothing; every other element is the marker.
            let elements = ["<circle", "<polygon", "<polyline"].map(|element| drawn.matches(element).count());
            assert!(elements.iter().sum::<usize>() > 1, "{drawn}");
        }
    }
}
