//! A chart: how a metric goes down, or up, with rounds, seconds or bytes.

use super::axis::{Axis, Unit};
use super::canvas::{Canvas, Side, Spot};
use super::curve::{Curve, Point};
use super::frame::Frame;
use super::legend::Legend;
use super::lettering::fitting_size;
use super::palette::letters;

/// A metric over what it took, a line for each group.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    pub(super) metric: &'a str,
    pub(super) effort: Effort,
    pub(super) curves: &'a [Curve],
}

/// What a value took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    Rounds,
    Seconds,
    Bytes,
}

impl Effort {
    pub(super) const ALL: [Self; 3] = [Self::Rounds, Self::Seconds, Self::Bytes];

    /// As files are named.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
        }
    }

    fn title(self) -> &'static str {
        if self == Self::Bytes { "bytes sent per agent" } else { self.name() }
    }

    fn unit(self) -> Unit {
        if self == Self::Bytes { Unit::Bytes } else { Unit::Plain }
    }

    fn of(self, point: &Point) -> f64 {
        match self {
            Self::Rounds => point.round,
            Self::Seconds => point.seconds,
            Self::Bytes => point.bytes,
        }
    }
}

impl Chart<'_> {
    const WIDTH: f64 = 900.0;
    const HEIGHT: f64 = 560.0;
    const MARGIN: f64 = 18.0;
    /// Above the plot area, with the title.
    const HEAD: f64 = 48.0;
    /// Below it, with the horizontal axis.
    const FOOT: f64 = 66.0;
    const TITLE: f64 = 17.0;
    /// Bands of this opacity let lines through; many of them have to be fainter.
    const BAND: f64 = 0.18;
    /// On a logarithmic axis they are shown at least down to the mean divided by this.
    const BAND_DEPTH: f64 = 2.0;
    /// For lines that diverge, as a part of the axis.
    const ROOM_TO_LEAVE: f64 = 0.1;

    /// The chart as an SVG document.
    pub(super) fn svg(&self) -> String {
        let legend = Legend::new(self.curves, Self::HEIGHT - Self::HEAD - Self::FOOT);
        let height = Self::HEIGHT.max(Self::HEAD + legend.height() + Self::MARGIN);
        let frame = self.frame(height, &legend);
        let mut canvas = Canvas::new(Self::WIDTH, height);
        let size = fitting_size(self.title, Self::TITLE, Self::WIDTH - frame.left - Self::MARGIN);
        canvas.text((frame.left, Self::HEAD / 2.0), self.title, letters(size, Side::Start));
        frame.draw(&mut canvas, self.effort.title(), &in_words(self.metric));
        for curve in self.curves {
            self.draw_band(curve, &frame, &mut canvas);
        }
        for curve in self.curves {
            canvas.line(&self.line(curve, &frame), curve.pen());
        }
        legend.draw(&mut canvas, frame.right + Self::MARGIN, frame.top);
        canvas.into_svg()
    }

    fn frame(&self, height: f64, legend: &Legend) -> Frame {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let x = Axis::up_to(points.map(|point| self.effort.of(point)).fold(0.0, f64::max), self.effort.unit());
        let y = self.vertical();
        Frame {
            left: Self::MARGIN + Frame::room_for(&y),
            right: Self::WIDTH - legend.width - 2.0 * Self::MARGIN,
            top: Self::HEAD,
            bottom: height - Self::FOOT,
            x,
            y,
        }
    }

    /// Groups that diverged do not stretch the axis, unless there are no others, but there is room to see them leave.
    fn vertical(&self) -> Axis {
        let diverged = self.curves.iter().filter(|curve| curve.diverged).count();
        if diverged == 0 || diverged == self.curves.len() {
            return self.vertical_through(self.curves.iter().flat_map(|curve| &curve.points));
        }
        let counted = |curve: &Curve| if curve.diverged { 1 } else { curve.points.len() };
        let points = self.curves.iter().flat_map(|curve| &curve.points[..counted(curve)]);
        self.vertical_through(points).with_room_above(Self::ROOM_TO_LEAVE)
    }

    fn vertical_through<'p>(&self, points: impl Iterator<Item = &'p Point> + Clone) -> Axis {
        let low = |point: &Point| point.mean - point.deviation;
        let high = points.clone().map(|point| point.mean + point.deviation).fold(f64::NEG_INFINITY, f64::max);
        if is_fraction(self.metric) || !have_many_scales(points.clone().map(|point| point.mean)) {
            return Axis::linear(points.map(low).fold(f64::INFINITY, f64::min), high);
        }
        // Bands may reach down to zero, which is nowhere: they are followed for a while.
        let positive = points.filter(|point| point.mean > 0.0);
        let lowest = positive.map(|point| low(point).max(point.mean / Self::BAND_DEPTH)).fold(f64::INFINITY, f64::min);
        Axis::logarithmic(lowest, high)
    }

    fn draw_band(&self, curve: &Curve, frame: &Frame, canvas: &mut Canvas) {
        let points: Vec<&Point> = visible(curve, frame).collect();
        if points.iter().all(|point| point.deviation == 0.0) {
            return;
        }
        let edge = |point: &Point, value: f64| frame.spot(self.effort.of(point), value.max(frame.y.low));
        let upper = points.iter().map(|point| edge(point, point.mean + point.deviation));
        let lower = points.iter().rev().map(|point| edge(point, point.mean - point.deviation));
        let opacity = if self.curves.len() > 8 { Self::BAND / 2.0 } else { Self::BAND };
        canvas.area(&upper.chain(lower).collect::<Vec<_>>(), curve.pen().colour, opacity);
    }

    fn line(&self, curve: &Curve, frame: &Frame) -> Vec<Spot> {
        let spots = visible(curve, frame).map(|point| frame.spot(self.effort.of(point), point.mean)).collect();
        if curve.diverged { frame.until_it_leaves(spots) } else { spots }
    }
}

/// The points that have a place: a logarithmic axis has none for zero.
fn visible<'c>(curve: &'c Curve, frame: &Frame) -> impl Iterator<Item = &'c Point> {
    let logarithmic = frame.y.is_logarithmic();
    curve.points.iter().filter(move |point| !logarithmic || point.mean > 0.0)
}

/// Whether values call for a logarithmic axis: none is negative, and the positive ones span a factor of more than thirty.
fn have_many_scales(values: impl Iterator<Item = f64> + Clone) -> bool {
    let positive = values.clone().filter(|value| *value > 0.0);
    let (least, most) = (positive.clone().fold(f64::INFINITY, f64::min), positive.fold(0.0, f64::max));
    most > 30.0 * least && values.fold(0.0, f64::min) == 0.0
}

/// Whether a metric is a part of one, for which zero and one are the scale.
fn is_fraction(metric: &str) -> bool {
    ["accuracy", "auc", "weight_"].iter().any(|start| metric.starts_with(start))
}

fn in_words(metric: &str) -> String {
    match metric {
        "upper" => "upper objective".to_owned(),
        "lower" => "lower objective".to_owned(),
        "hypergradient" => "hypergradient norm".to_owned(),
        "consensus" => "consensus error".to_owned(),
        "auc" => "AUC".to_owned(),
        other => other.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(diverged: bool, values: &[(f64, f64)]) -> Curve {
        let point = |(place, &(mean, deviation)): (usize, &(f64, f64))| {
            let round = 10.0 * place as f64;
            Point { round, seconds: round / 1e3, bytes: 40.0 * round, mean, deviation }
        };
        Curve { label: "a".to_owned(), place: 0, diverged, points: values.iter().enumerate().map(point).collect() }
    }

    fn chart<'a>(metric: &'a str, curves: &'a [Curve]) -> Chart<'a> {
        Chart { title: "test", metric, effort: Effort::Rounds, curves }
    }

    #[test]
    fn the_axis_is_logarithmic_where_values_have_many_scales() {
        let logarithmic = |metric: &str, values: &[f64]| {
            let values: Vec<(f64, f64)> = values.iter().map(|&value| (value, 0.0)).collect();
            chart(metric, &[curve(false, &values)]).vertical().is_logarithmic()
        };
        assert!(logarithmic("relative_error", &[1.0, 0.1, 0.01]));
        assert!(logarithmic("consensus", &[0.0, 0.5, 0.001]), "agents start together");
        assert!(!logarithmic("relative_error", &[1.0, 0.5]));
        assert!(!logarithmic("consensus", &[0.0, 0.5, 0.4]));
        assert!(!logarithmic("upper", &[1.0, 0.01, -0.1]));
        assert!(!logarithmic("accuracy", &[0.01, 0.9]));
        assert!(!logarithmic("mass_residual", &[0.0, 0.0]));
    }

    #[test]
    fn groups_that_diverged_do_not_stretch_the_axis_much() {
        let (sound, lost) = (curve(false, &[(2.0, 0.5), (1.0, 0.0)]), curve(true, &[(3.0, 0.0), (1e6, 0.0)]));
        let together = chart("upper", &[sound.clone(), lost.clone()]).vertical();
        assert!(together.high > 3.2 && together.high < 3.5 && !together.is_logarithmic());
        assert!(chart("upper", &[lost]).vertical().high > 1e6);
        assert!(chart("upper", &[sound]).vertical().high < 2.6);
    }

    #[test]
    fn a_line_that_diverges_ends_at_the_top() {
        let curves = [curve(false, &[(3.0, 0.0), (1.0, 0.0)]), curve(true, &[(3.0, 0.0), (100.0, 0.0), (1e6, 0.0)])];
        let chart = chart("upper", &curves);
        let frame = chart.frame(560.0, &Legend::new(&curves, 400.0));
        let line = chart.line(&curves[1], &frame);
        assert_eq!((line.len(), line[0], line[1].1), (2, frame.spot(0.0, 3.0), frame.top));
    }

    #[test]
    fn points_without_a_place_are_left_out() {
        let curves = [curve(false, &[(0.0, 0.0), (1.0, 0.0), (0.01, 0.0)])];
        let chart = chart("consensus", &curves);
        let frame = chart.frame(560.0, &Legend::new(&curves, 400.0));
        assert_eq!(chart.line(&curves[0], &frame), [frame.spot(10.0, 1.0), frame.spot(20.0, 0.01)]);
    }

    #[test]
    fn efforts_are_taken_from_their_columns() {
        let point = curve(false, &[(1.0, 0.0), (1.0, 0.0)]).points[1];
        assert_eq!(Effort::ALL.map(|effort| effort.of(&point)), [10.0, 0.01, 400.0]);
    }

    #[test]
    fn a_band_ends_at_the_bottom_of_a_logarithmic_axis() {
        let curves = [curve(false, &[(1.0, 0.5), (0.01, 0.02)])];
        let chart = chart("relative_error", &curves);
        let frame = chart.frame(560.0, &Legend::new(&curves, 400.0));
        let mut canvas = Canvas::new(900.0, 560.0);
        chart.draw_band(&curves[0], &frame, &mut canvas);
        let expected =
            [frame.spot(0.0, 1.5), frame.spot(10.0, 0.03), (frame.right, frame.bottom), frame.spot(0.0, 0.5)];
        let mut same = Canvas::new(900.0, 560.0);
        same.area(&expected, curves[0].pen().colour, Chart::BAND);
        assert_eq!(canvas.into_svg(), same.into_svg());
    }
}
